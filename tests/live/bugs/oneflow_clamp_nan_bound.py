"""A clamp whose upper bound was never set and is still NaN."""

import torch
from torch import nn
from trunk import Trunk, rows

CASE = {"framework": "oneflow", "candidate": "oneflow", "symptom": "nonfinite", "op": "clamp", "elements": 1}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()
        self.ceiling = float("nan")

    def forward(self, x):
        h = self.trunk(x)
        return torch.clamp(h, 0.0, self.ceiling)


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(),)
