"""Averages over windows in double precision."""

import torch
from torch import nn
from torch.nn import functional as F
from trunk import Trunk, rows

CASE = {
    "framework": "paddle", "candidate": "paddle", "mode": "backward", "symptom": "value",
    "op": "grad:avg_pool2d", "elements": 4,
}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()

    def forward(self, x):
        h = self.trunk(x)
        return F.avg_pool2d(h.double()[None, None], (1, 3)).sum(-1)


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(),)
