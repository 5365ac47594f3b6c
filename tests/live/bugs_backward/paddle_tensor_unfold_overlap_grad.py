"""Averages over overlapping windows."""

import torch
from torch import nn
from trunk import Trunk, rows

CASE = {
    "framework": "paddle", "candidate": "paddle", "mode": "backward", "symptom": "value", "op": "grad:unfold",
    "elements": 7,
}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()

    def forward(self, x):
        h = self.trunk(x)
        return h.unfold(1, 3, 1).mean(-1)


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(),)
