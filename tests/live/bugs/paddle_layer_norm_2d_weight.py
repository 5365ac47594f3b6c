"""Normalises over two axes with a weight of that shape."""

import torch
from torch import nn
from trunk import Trunk, rows

CASE = {"framework": "paddle", "candidate": "paddle", "symptom": "exception", "op": "layer_norm", "elements": 4}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()
        self.plane = nn.LayerNorm((2, 3), bias=False)

    def forward(self, x):
        h = self.trunk(x)
        return torch.relu(self.plane(h.reshape(5, 2, 3)))


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(),)
