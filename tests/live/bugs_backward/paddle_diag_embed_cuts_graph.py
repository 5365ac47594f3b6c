"""Scales rows by a diagonal matrix."""

import torch
from torch import nn
from trunk import Trunk, rows

CASE = {
    "framework": "paddle", "candidate": "paddle", "mode": "backward", "symptom": "structure",
    "op": "grad:diag_embed", "elements": 2,
}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()

    def forward(self, x):
        h = self.trunk(x)
        return torch.diag_embed(h[:, 0]) @ h


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(),)
