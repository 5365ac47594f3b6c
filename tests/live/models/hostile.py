"""Reference models for `test_align_hostile`: what a model may do to whoever watches it."""

import functools

import torch
import torch.nn.functional as F
from torch import nn


class Shared(nn.Module):
    """One layer under two names."""

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.b = self.a

    def forward(self, x):
        return self.b(torch.relu(self.a(x)))


def shared():
    return Shared(), torch.randn(2, 4)


class Bound(nn.Module):
    """Its forward stands on the instance."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.forward = functools.partial(self._scaled, k=3.0)

    def _scaled(self, x, k):
        return self.fc(x) * k


def bound():
    return Bound(), torch.randn(2, 4)


class Draws(nn.Module):
    """Draws values of the shapes that its operators return."""

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)

    def forward(self, x):
        noise, rate = torch.randn(2, 4), torch.rand(2, 4)
        return self.a(x + noise) * rate


def draws():
    return Draws(), torch.randn(2, 4)


class Narrow(nn.Module):
    """Refuses float64: it holds a constant in float32."""

    def __init__(self):
        super().__init__()
        self.fc, self.constant = nn.Linear(4, 4), torch.randn(4, 4)

    def forward(self, x):
        return self.fc(x) @ self.constant * 2


def narrow():
    torch.manual_seed(3)
    module = Narrow()
    module.constant = torch.arange(16.0).reshape(4, 4) / 16
    return module, torch.randn(2, 4)


class Loose(nn.Module):
    """Holds a layer in a plain list."""

    def __init__(self):
        super().__init__()
        self.fc, self.rest = nn.Linear(4, 4), [nn.Linear(4, 4)]

    def forward(self, x):
        return self.rest[0](self.fc(x))


def loose():
    return Loose(), torch.randn(2, 4)


class Normed(nn.Module):
    """A bias before a batch norm, whose gradient is nothing but rounding."""

    def __init__(self):
        super().__init__()
        self.c, self.n, self.fc = nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Linear(36, 5)

    def forward(self, x):
        return self.fc(F.relu(self.n(self.c(x))).flatten(1))


def normed():
    return Normed(), torch.randn(4, 3, 5, 5)


def encoder():
    """Attention that drops out inside its kernel."""
    return nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1, batch_first=True), torch.randn(2, 5, 8)


def traced():
    return torch.jit.trace(Shared().eval(), torch.randn(2, 4)), torch.randn(2, 4)


def plain():
    return nn.Sequential(nn.Linear(4, 4)), torch.randn(2, 4)


def half():
    return nn.Sequential(nn.Linear(4, 4)).half(), torch.randn(2, 4).half()


def bfloat():
    return nn.Sequential(nn.Linear(4, 4)).bfloat16(), torch.randn(2, 4).bfloat16()


class Recurrent(nn.Module):
    """A recurrent layer, which Paddle differentiates in training mode only, and not in float64."""

    def __init__(self):
        super().__init__()
        self.r = nn.LSTM(4, 6, batch_first=True)

    def forward(self, x):
        return self.r(x)[0]


def recurrent():
    return Recurrent(), torch.randn(2, 5, 4)


class Dropping(nn.Module):
    """A recurrent layer that drops out inside its kernel."""

    def __init__(self):
        super().__init__()
        self.r = nn.LSTM(4, 6, num_layers=2, dropout=0.5, batch_first=True)

    def forward(self, x):
        return self.r(x)[0]


def dropping():
    return Dropping(), torch.randn(2, 5, 4)


class Attending(nn.Module):
    """Attention that drops out inside its kernel, called from the user's own code."""

    def __init__(self):
        super().__init__()
        self.q = nn.Linear(8, 8)

    def forward(self, x):
        q = self.q(x).reshape(2, 5, 2, 4).transpose(1, 2)
        return F.scaled_dot_product_attention(q, q, q, dropout_p=0.5 if self.training else 0.0)


def attending():
    return Attending(), torch.randn(2, 5, 8)


class Dropped(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.d = nn.Linear(4, 4), nn.Dropout(0.5)

    def forward(self, x):
        return self.d(self.fc(x))


def dropped():
    return Dropped(), torch.randn(2, 4)


def oblong():
    return nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 6)), torch.randn(2, 4)


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x, y):
        return self.a(x) + self.b(y)


def pair():
    return Pair()
