"""Standardises by the variance over both axes."""

import torch
from torch import nn
from trunk import Trunk, rows

CASE = {"framework": "oneflow", "candidate": "oneflow", "symptom": "exception", "op": "var", "elements": 4}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()

    def forward(self, x):
        h = self.trunk(x)
        return h / torch.sqrt(torch.var(h, dim=(0, 1), unbiased=False) + 1e-5)


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(),)
