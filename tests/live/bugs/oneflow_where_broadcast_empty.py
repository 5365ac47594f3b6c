"""Selects between a default and a slice that turns out to be empty."""

import torch
from torch import nn
from trunk import Trunk, rows

CASE = {"framework": "oneflow", "candidate": "oneflow", "symptom": "crash", "op": "where", "elements": 2}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()
        self.default = nn.Parameter(torch.ones(1))

    def forward(self, x):
        h = self.trunk(x)
        left = h[:, 6:].flatten()
        chosen = torch.where(self.default > 0, self.default, left)
        return h + chosen.sum()


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(),)
