"""Looks at a fixed image where a trained head says."""

import torch
from torch import nn
from torch.nn import functional as F
from trunk import Trunk, rows

CASE = {
    "framework": "paddle", "candidate": "paddle", "mode": "backward", "symptom": "crash",
    "op": "grad:grid_sampler", "elements": 12,
}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()
        self.register_buffer("image", torch.randn(1, 1, 3, 3))

    def forward(self, x):
        h = self.trunk(x)
        where = torch.tanh(h).reshape(1, 5, 3, 2)
        return F.grid_sample(self.image, where, align_corners=True)


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(),)
