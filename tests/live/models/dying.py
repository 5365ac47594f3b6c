"""Reference models for `test_align_deaths`."""

import torch
import torch.nn.functional as F
from torch import nn


class Weighted(nn.Module):
    """A product of a sequence with a vector."""

    def __init__(self):
        super().__init__()
        self.fc, self.out = nn.Linear(4, 6), nn.Linear(3, 2)
        self.register_buffer("weights", torch.linspace(0.5, 1.0, 6))

    def forward(self, x):
        return self.out(torch.matmul(self.fc(x), self.weights))


def weighted():
    return Weighted(), torch.randn(2, 3, 4)


class Buckets(nn.Module):
    """Whole numbers, divided."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, ids, width):
        return self.fc(x) + ids // torch.clamp(width, min=1)


def buckets():
    return Buckets(), (torch.randn(2, 4), torch.arange(8).reshape(2, 4), torch.tensor([[3, 2, 0, 1], [1, 1, 2, 5]]))


class Spectrum(nn.Module):
    """Eigenvalues of what a layer computes."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        values = torch.linalg.eig(self.fc(x))[0]
        return values.real.sum(-1)


def spectrum():
    return Spectrum(), torch.randn(3, 4, 4)


class Sampled(nn.Module):
    """Samples an image that is no leaf at places that a layer computes."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.register_buffer("image", torch.arange(12.0).reshape(1, 1, 3, 4))

    def forward(self, x):
        return F.grid_sample(self.image, self.fc(x), align_corners=False)


def sampled():
    return Sampled(), torch.rand(1, 2, 2, 2) - 0.5


class Gate(nn.Module):
    """Two layers and a softmax."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(6, 6), nn.Linear(6, 6)

    def forward(self, x):
        return self.b(torch.softmax(self.a(x), -1))


def gate():
    return Gate(), torch.randn(2, 6)


class Smooth(nn.Module):
    """A layer that the framework's own code calls."""

    def __init__(self):
        super().__init__()
        self.fc, self.act = nn.Linear(4, 4), nn.GELU()

    def forward(self, x):
        return self.act(self.fc(x))


def smooth():
    return Smooth(), torch.randn(2, 9, 4)


class Endless(Gate):
    """Never comes to its second layer."""

    def forward(self, x):
        x = self.a(x)
        while True:
            x = torch.softmax(x, -1)


def endless():
    return Endless(), torch.randn(2, 6)
