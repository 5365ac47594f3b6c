"""A convolution with an even kernel and padding="same"."""

import torch
from torch import nn
from trunk import Trunk, rows

CASE = {"framework": "oneflow", "candidate": "oneflow", "symptom": "shape", "op": "conv1d", "elements": 7}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()
        self.conv = nn.Conv1d(5, 3, 2, padding="same")

    def forward(self, x):
        h = self.trunk(x)
        return torch.relu(self.conv(h[None]))


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(),)
