"""Ports of `hostile` to Paddle, and mistakes in them."""

import ctypes
import functools

import paddle
import paddle.nn.functional as F
from paddle import nn


class shared(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.b = self.a

    def forward(self, x):
        return self.b(F.relu(self.a(x)))


class bound(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.forward = functools.partial(self._scaled, k=3.0)

    def _scaled(self, x, k):
        return self.fc(x) * k


class draws(nn.Layer):
    sign = 1.0

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)

    def forward(self, x):
        rate, noise = paddle.rand([2, 4]), paddle.randn([2, 4])
        return self.a(x + self.sign * noise) * rate


class draws_wrongly(draws):
    sign = -1.0


class narrow(nn.Layer):
    factor = 2.0

    def __init__(self):
        super().__init__()
        self.fc, self.constant = nn.Linear(4, 4), paddle.arange(16.0).reshape([4, 4]) / 16

    def forward(self, x):
        return self.fc(x) @ self.constant * self.factor


class narrow_wrongly(narrow):
    factor = 2.1


class loose(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc, self.rest = nn.Linear(4, 4), [nn.Linear(4, 4)]

    def forward(self, x):
        return self.rest[0](self.fc(x))


class normed(nn.Layer):
    def __init__(self):
        super().__init__()
        self.c, self.n, self.fc = nn.Conv2D(3, 4, 3), nn.BatchNorm2D(4), nn.Linear(36, 5)

    def forward(self, x):
        return self.fc(F.relu(self.n(self.c(x))).flatten(1))


def encoder():
    return nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1)


def encoder_state(state):
    """A converter: torch keeps the three projections of an attention in one."""
    made = {key: value.T if value.ndim == 2 else value for key, value in state.items() if ".in_proj" not in key}
    for kind in ("weight", "bias"):
        parts = state[f"self_attn.in_proj_{kind}"].reshape(3, 8, -1)
        for name, part in zip("qkv", parts):
            made[f"self_attn.{name}_proj.{kind}"] = part.T if kind == "weight" else part.reshape(-1)
    return made


class recurrent(nn.Layer):
    def __init__(self):
        super().__init__()
        self.r = nn.LSTM(4, 6)

    def forward(self, x):
        return self.r(x)[0]


def unchanged(state):
    return dict(state)


class plain(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Linear(4, 4))


def bfloat():
    module = plain()
    module.to(dtype="bfloat16")
    return module


class number(plain):
    """Returns a number where a tensor is due."""

    def forward(self, x):
        return float(super().forward(x).sum())


class more(plain):
    """Returns a tensor more."""

    def forward(self, x):
        y = super().forward(x)
        return y, y * 2


class wide_wrongly(plain):
    """Another precision, and a mistake that no precision explains."""

    def forward(self, x):
        return super().forward(x).astype("float64") * 1.5


class dies(plain):
    def forward(self, x):
        super().forward(x)
        ctypes.string_at(0)


class keyword(plain):
    def forward(self, *, x):
        return super().forward(x)


def no_layer():
    return [1, 2]


def raising(state):
    return state["missing"]


def listing(state):
    return list(state)


def itself():
    """A model that is its own port."""
    module = nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4))
    return module, paddle.randn([2, 4])


def writing(state):
    """A converter that works in place, on what is the reference's."""
    state["0.weight"] += 1
    return {"0.weight": state["0.weight"].T, "0.bias": state["0.bias"]}


class dropping(nn.Layer):
    def __init__(self):
        super().__init__()
        self.r = nn.LSTM(4, 6, num_layers=2, dropout=0.5)

    def forward(self, x):
        return self.r(x)[0]


class attending(nn.Layer):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(8, 8)

    def forward(self, x):
        q = self.q(x).reshape([2, 5, 2, 4])
        y = F.scaled_dot_product_attention(q, q, q, dropout_p=0.5 if self.training else 0.0, training=self.training)
        return y.transpose([0, 2, 1, 3])


class Dense(nn.Linear):
    """A subclass keeps the layout of the framework's own layer."""


def oblong():
    return nn.Sequential(Dense(4, 4), Dense(4, 6))


class pair(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x, y):
        return self.a(x) + self.b(y)


class pair_together(pair):
    """Puts both into one, which takes the same number of rows of each."""

    def forward(self, x, y):
        return paddle.concat([self.a(x), self.b(y)], 1)[:, :4]
