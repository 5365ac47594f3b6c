"""Overwrites every other column of its features in place."""

import torch
from torch import nn
from trunk import Trunk, rows

CASE = {"framework": "oneflow", "candidate": "oneflow", "symptom": "value", "op": "fill_", "elements": 3}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()

    def forward(self, x):
        h = self.trunk(x).clone()
        h[:, ::2].fill_(1.5)
        return torch.tanh(h)


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(),)
