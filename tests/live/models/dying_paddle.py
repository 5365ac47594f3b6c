"""Ports of `dying` to Paddle, which end their process or never return."""

import os
import signal

import paddle
import paddle.nn.functional as F
from paddle import nn


class spectrum(nn.Layer):
    """Divides by zero first, and `eig` of what is no number ends the process with status 0."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        y = self.fc(x)
        scaled = y * (paddle.zeros([1]) / paddle.zeros([1]))
        values = paddle.linalg.eig(scaled)[0]
        return values.real().sum(-1)


class sampled(nn.Layer):
    """Right; the backward of `grid_sample` with a frozen image ends the process."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.register_buffer("image", paddle.arange(12.0).reshape([1, 1, 3, 4]))

    def forward(self, x):
        return F.grid_sample(self.image, self.fc(x), align_corners=False)


class gate(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(6, 6), nn.Linear(6, 6)

    def between(self, x):
        return F.softmax(x, -1)

    def forward(self, x):
        return self.b(self.between(self.a(x)))


class leaves(gate):
    def between(self, x):
        y = F.softmax(x, -1)
        os._exit(3)
        return y


class circles(gate):
    def between(self, x):
        count = 0
        while count >= 0:
            count += 1
        return F.softmax(x, -1)


class turns(gate):
    """Calls the framework for ever."""

    def between(self, x):
        while True:
            x = F.softmax(x, -1)


class shoots(gate):
    """Sends itself a signal, on a line that has asked the framework for an attribute."""

    armed = True

    def between(self, x):
        y = F.softmax(x, -1)
        return y if self.armed and os.kill(os.getpid(), signal.SIGSEGV) else y


def converts_forever(state):
    while True:  # no state is ever ready
        pass


def converts_to_death(state):
    os._exit(5)


class unbuilt(gate):
    def __init__(self):
        super().__init__()
        paddle.linalg.eig(paddle.full([2, 2], float("nan")))
