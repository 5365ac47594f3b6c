"""Multiplies gates, one of which is shut."""

import torch
from torch import nn
from trunk import Trunk, rows

CASE = {
    "framework": "paddle", "candidate": "paddle", "mode": "backward", "symptom": "nonfinite",
    "op": "grad:prod", "elements": 3,
}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()

    def forward(self, x):
        h = self.trunk(x)
        return torch.relu(h).prod(-1)


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(),)
