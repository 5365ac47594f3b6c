"""Gathers rows through the transposed matrix."""

import torch
from torch import nn
from trunk import Trunk, rows

CASE = {"framework": "paddle", "candidate": "paddle", "symptom": "shape", "op": "index", "elements": 5}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()
        self.register_buffer("order", torch.tensor([4, 1, 3]))

    def forward(self, x):
        h = self.trunk(x)
        return torch.relu(h.T[:, self.order])


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(),)
