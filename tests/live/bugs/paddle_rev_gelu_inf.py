"""An activation of values that overflowed to infinity."""

import torch
from torch import nn
from torch.nn import functional as F
from trunk import Trunk, rows

CASE = {
    "framework": "torch", "candidate": "paddle", "symptom": "nonfinite", "op": "gelu", "elements": 2,
    "side": "reference",
}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()

    def forward(self, x):
        h = self.trunk(x)
        return torch.tanh(F.gelu(torch.exp(h * 1000.0)))


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(),)
