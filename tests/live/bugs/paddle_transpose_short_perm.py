"""Moves axes by an order that may not fit the rank; the model falls back to the features as they are."""

import torch
from torch import nn
from trunk import Trunk, rows

CASE = {"framework": "paddle", "candidate": "paddle", "symptom": "accepted", "op": "permute", "elements": 6}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()
        self.order = (0,)

    def forward(self, x):
        h = self.trunk(x)
        try:
            moved = h.permute(self.order)
        except RuntimeError:
            moved = h
        return torch.relu(moved)


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(),)
