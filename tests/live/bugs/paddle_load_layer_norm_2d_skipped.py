"""Loads a normalisation over two axes from a checkpoint."""

import torch
from torch import nn
from trunk import Trunk, rows

CASE = {
    "framework": "paddle", "candidate": "paddle", "symptom": "value", "op": "load_layer_norm", "elements": 2,
    "mode": "load",
}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()
        self.plane = nn.LayerNorm((2, 3))
        nn.init.constant_(self.plane.weight, 3.0)

    def forward(self, x):
        h = self.trunk(x)
        return torch.relu(self.plane(h.reshape(5, 2, 3)))


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(),)
