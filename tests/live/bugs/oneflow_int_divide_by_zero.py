"""An integer quotient that may divide by zero; the model falls back to the total."""

import torch
from torch import nn
from trunk import Trunk, rows

CASE = {"framework": "oneflow", "candidate": "oneflow", "symptom": "crash", "op": "floor_divide", "elements": 2}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()

    def forward(self, x, totals, counts):
        h = self.trunk(x)
        try:
            share = totals // counts
        except RuntimeError:
            share = totals
        return h * share[:, None]


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(), torch.tensor([4, 9, 2, 7, 5]), torch.tensor([2, 0, 1, 3, 0]),)
