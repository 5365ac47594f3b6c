"""Splits features into many axes of length one and two."""

import torch
from torch import nn
from trunk import Trunk, rows

CASE = {"framework": "paddle", "candidate": "paddle", "symptom": "exception", "op": "reshape", "elements": 1}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()

    def forward(self, x):
        h = self.trunk(x)
        return torch.relu(h[:4, :4].contiguous().reshape(2, 2, 1, 1, 2, 2, 1, 1, 1, 1))


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(),)
