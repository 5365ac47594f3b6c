"""Newer of two time stamps in nanoseconds."""

import torch
from torch import nn
from trunk import Trunk, rows

CASE = {"framework": "paddle", "candidate": "paddle", "symptom": "value", "op": "fmax", "elements": 2}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()

    def forward(self, x, first, second):
        h = self.trunk(x)
        newest = torch.fmax(first, second)
        return h * (newest % 7)[:, None]


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(), torch.arange(5) * 2 + 2**60 + 1, torch.arange(5),)
