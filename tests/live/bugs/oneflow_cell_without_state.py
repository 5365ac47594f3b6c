"""A recurrent cell that starts from its default state."""

import torch
from torch import nn
from trunk import Trunk, rows

CASE = {"framework": "oneflow", "candidate": "oneflow", "symptom": "exception", "op": "gru_cell", "elements": 15}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()
        self.cell = nn.GRUCell(6, 4)

    def forward(self, x):
        h = self.trunk(x)
        return self.cell(h)


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(),)
