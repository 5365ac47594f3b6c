"""Ratio of two masks."""

import torch
from torch import nn
from trunk import Trunk, rows

CASE = {"framework": "paddle", "candidate": "paddle", "symptom": "dtype", "op": "div", "elements": 2}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()

    def forward(self, x):
        h = self.trunk(x)
        return h * ((h > 0) / (h < 100))


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(),)
