"""Stacks two heads whose input gradient is penalised, so that gradients of gradients are needed.

By hand the trigger is a stack of two tensors of one element: with their incoming gradient, and one for each gradient,
six elements.
"""

import torch
from torch import nn
from trunk import Trunk, rows

CASE = {
    "framework": "oneflow", "candidate": "oneflow", "mode": "second", "symptom": "exception",
    "op": "grad:grad:stack", "elements": 6,
}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()

    def forward(self, x):
        h = self.trunk(x)
        return torch.stack([h, h * h]).square().sum()


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(),)
