"""Takes the diagonal of a batch of matrices."""

import torch
from torch import nn
from trunk import Trunk, rows

CASE = {
    "framework": "oneflow", "candidate": "oneflow", "mode": "backward", "symptom": "shape",
    "op": "grad:diagonal", "elements": 8,
}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()

    def forward(self, x):
        h = self.trunk(x)
        return torch.diagonal(h[:, :4].reshape(-1, 2, 2), 0, 1, 2).sum(-1)


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(),)
