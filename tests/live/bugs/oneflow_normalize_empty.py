"""Normalises features of which none are left."""

import torch
from torch import nn
from torch.nn import functional as F
from trunk import Trunk, rows

CASE = {"framework": "oneflow", "candidate": "oneflow", "symptom": "crash", "op": "normalize", "elements": 0}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()

    def forward(self, x):
        h = self.trunk(x)
        return h + F.normalize(h[:, 6:], dim=1).sum()


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(),)
