"""Length of vectors whose squares overflow."""

import torch
from torch import nn
from trunk import Trunk, rows

CASE = {"framework": "paddle", "candidate": "paddle", "symptom": "nonfinite", "op": "hypot", "elements": 2}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()

    def forward(self, x):
        h = self.trunk(x) * 1e20
        return torch.hypot(h[:, :3], h[:, 3:]) * 1e-20


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(),)
