"""Tail probabilities in double precision, all of them far out."""

import torch
from torch import nn
from trunk import Trunk, rows

CASE = {
    "framework": "torch", "candidate": "numpy", "symptom": "value", "op": "special_ndtr", "elements": 1,
    "side": "reference",
}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()

    def forward(self, x):
        h = self.trunk(x)
        return torch.special.ndtr(-9.0 - h.double().abs())


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(),)
