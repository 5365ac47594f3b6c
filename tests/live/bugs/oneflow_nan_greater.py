"""Selects by a comparison where some values are NaN."""

import torch
from torch import nn
from trunk import Trunk, rows

CASE = {"framework": "oneflow", "candidate": "oneflow", "symptom": "value", "op": "gt", "elements": 1}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()

    def forward(self, x):
        h = self.trunk(x)
        spread = torch.sqrt(h.min())
        return torch.where(spread > 0.0, h, -h)


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(),)
