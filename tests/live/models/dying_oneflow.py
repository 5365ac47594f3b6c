"""Ports of `dying` to OneFlow, which end their process."""

import oneflow as flow
from oneflow import nn


class weighted(nn.Module):
    """A product of three axes with a vector aborts."""

    def __init__(self):
        super().__init__()
        self.fc, self.out = nn.Linear(4, 6), nn.Linear(3, 2)
        self.register_buffer("weights", flow.linspace(0.5, 1.0, 6))

    def forward(self, x):
        return self.out(flow.matmul(self.fc(x), self.weights))


class buckets(nn.Module):
    """Forgets to keep the divisor from zero; the process ends on another thread."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, ids, width):
        return self.fc(x) + ids // width
