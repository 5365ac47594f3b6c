"""Gathers columns of every other feature."""

import torch
from torch import nn
from trunk import Trunk, rows

CASE = {"framework": "paddle", "candidate": "paddle", "symptom": "shape", "op": "index", "elements": 7}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()
        self.register_buffer("columns", torch.tensor([2, 0]))

    def forward(self, x):
        h = self.trunk(x)
        return torch.relu(h[:, ::2][:, self.columns])


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(),)
