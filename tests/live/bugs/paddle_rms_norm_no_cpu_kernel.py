"""A block with RMS normalisation."""

import torch
from torch import nn
from trunk import Trunk, rows

CASE = {"framework": "paddle", "candidate": "paddle", "symptom": "exception", "op": "rms_norm", "elements": 4}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()
        self.rms = nn.RMSNorm(6)

    def forward(self, x):
        h = self.trunk(x)
        return torch.relu(self.rms(h))


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(),)
