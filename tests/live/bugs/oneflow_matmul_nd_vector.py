"""Scores a batch of sequences with one vector."""

import torch
from torch import nn
from trunk import Trunk, rows

CASE = {"framework": "oneflow", "candidate": "oneflow", "symptom": "crash", "op": "matmul", "elements": 2}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()
        self.vector = nn.Parameter(torch.randn(3))

    def forward(self, x):
        h = self.trunk(x)
        return torch.sigmoid(torch.matmul(h.reshape(5, 2, 3), self.vector))


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(),)
