"""Weights the diagonal of a batch of matrices."""

import torch
from torch import nn
from trunk import Trunk, rows

CASE = {"framework": "paddle", "candidate": "paddle", "symptom": "exception", "op": "einsum", "elements": 2}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()
        self.weight = nn.Parameter(torch.randn(3))

    def forward(self, x):
        h = self.trunk(x)
        return torch.tanh(torch.einsum("iij,j->i", h[:4].reshape(2, 2, 6)[:, :, :3], self.weight))


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(),)
