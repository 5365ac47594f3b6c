"""Pools rows with indices, rounding the number of windows up."""

import torch
from torch import nn
from torch.nn import functional as F
from trunk import Trunk, rows

CASE = {
    "framework": "paddle", "candidate": "paddle", "mode": "backward", "symptom": "hang",
    "op": "grad:max_pool2d_with_indices", "elements": 6,
}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()

    def forward(self, x):
        h = self.trunk(x)[None, None, :, :5]
        pooled, index = F.max_pool2d(h, (1, 2), (1, 2), (0, 1), ceil_mode=True, return_indices=True)
        return pooled.sum(-1) + 0 * index.sum()


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(),)
