"""Writes its features into a transposed window of a cache."""

import torch
from torch import nn
from trunk import Trunk, rows

CASE = {"framework": "paddle", "candidate": "paddle", "symptom": "value", "op": "copy_", "elements": 8}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()

    def forward(self, x):
        h = self.trunk(x)
        cache = torch.zeros(6, 5)
        cache.T.copy_(h)
        return torch.relu(cache)


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(),)
