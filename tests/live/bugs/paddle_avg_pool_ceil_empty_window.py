"""Pools with rounding up, so that one window would start in the padding."""

import torch
from torch import nn
from trunk import Trunk, rows

CASE = {"framework": "paddle", "candidate": "paddle", "symptom": "shape", "op": "avg_pool1d", "elements": 1}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()
        self.pool = nn.AvgPool1d(2, 2, 1, ceil_mode=True, count_include_pad=False)

    def forward(self, x):
        h = self.trunk(x)
        return self.pool(h[:, None, :5]).squeeze(1).relu()


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(),)
