"""Paddle ports of `pairs`, with the habits of real ones: a patched method, a layer that is made late."""

import paddle
from paddle import nn

_sum = paddle.Tensor.sum


def patched(self, *args, **kwargs):
    """What a conversion helper does to a method, so that ported code runs."""
    return _sum(self, *args, **kwargs)


class Late(nn.Layer):
    """Makes its first layer in its first call."""

    def __init__(self):
        super().__init__()
        self.a, self.b = None, nn.Linear(5, 3)

    def forward(self, x):
        if self.a is None:
            self.a = nn.Linear(x.shape[-1], 5)
        return self.b(nn.functional.relu(self.a(x)))


def late():
    """The port of `pairs.late`; it patches the framework on the way."""
    paddle.Tensor.sum = patched
    return Late()


class Parts(nn.Layer):
    """Passes values through a generator, and returns views."""

    def __init__(self):
        super().__init__()
        self.b = nn.Linear(5, 4)

    def parts(self, x):
        for factor in range(3):
            yield self.b(x * factor)

    def forward(self, x):
        y = sum(self.parts(x))
        return y[:, ::2], {"rest": y[:, 1::2], "none": None}


def parts():
    """The port of `pairs.parts`."""
    return Parts()
