"""Compares two limits that are infinite with opposite signs."""

import torch
from torch import nn
from trunk import Trunk, rows

CASE = {"framework": "paddle", "candidate": "paddle", "symptom": "value", "op": "isclose", "elements": 2}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()

    def forward(self, x):
        h = self.trunk(x)
        low = torch.log(torch.zeros_like(h))
        return torch.where(torch.isclose(low, -low), -h, h)


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(),)
