"""Masks rows through the transposed matrix."""

import torch
from torch import nn
from trunk import Trunk, rows

CASE = {"framework": "paddle", "candidate": "paddle", "symptom": "shape", "op": "index", "elements": 8}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()
        self.register_buffer("keep", torch.tensor([True, False, True, True, False]))

    def forward(self, x):
        h = self.trunk(x)
        return torch.relu(h.T[:, self.keep])


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(),)
