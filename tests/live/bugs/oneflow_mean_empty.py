"""Mean of a slice that turns out to be empty."""

import torch
from torch import nn
from trunk import Trunk, rows

CASE = {"framework": "oneflow", "candidate": "oneflow", "symptom": "nonfinite", "op": "mean", "elements": 0}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()

    def forward(self, x):
        h = self.trunk(x)
        return h + h[:, 6:].mean()


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(),)
