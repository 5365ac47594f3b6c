"""Distances between integer positions, one of them negated."""

import torch
from torch import nn
from trunk import Trunk, rows

CASE = {"framework": "oneflow", "candidate": "oneflow", "symptom": "dtype", "op": "neg", "elements": 1}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()

    def forward(self, x, positions):
        h = self.trunk(x)
        back = -positions
        return h * (back + positions + 1)[:, None]


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(), torch.tensor([0, 1, 2, 3, 2**24 + 1]),)
