"""Overwrites some columns by their activation."""

import torch
from torch import nn
from trunk import Trunk, rows

CASE = {
    "framework": "oneflow", "candidate": "oneflow", "mode": "backward", "symptom": "value",
    "op": "grad:celu_", "elements": 2,
}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()

    def forward(self, x):
        h = self.trunk(x)
        h = h * 1.0
        nn.CELU(inplace=True)(h[:, :4])
        return h


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(),)
