"""Reads the spectrum of the mixing matrix."""

import torch
from torch import nn
from trunk import Trunk, rows

CASE = {
    "framework": "paddle", "candidate": "paddle", "mode": "backward", "symptom": "structure",
    "op": "grad:linalg_eigvals", "elements": 6,
}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()

    def forward(self, x):
        h = self.trunk(x)
        return torch.linalg.eigvals(h @ h.T).real.sum() + h.sum()


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(),)
