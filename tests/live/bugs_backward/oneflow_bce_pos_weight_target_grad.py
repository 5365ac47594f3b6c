"""Distils soft targets that a second head makes, positives weighing more."""

import torch
from torch import nn
from torch.nn import functional as F
from trunk import Trunk, rows

CASE = {
    "framework": "oneflow", "candidate": "oneflow", "mode": "backward", "symptom": "value",
    "op": "grad:binary_cross_entropy_with_logits", "elements": 4,
}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk, self.teacher = Trunk(), nn.Linear(6, 6)
        self.register_buffer("weight", torch.tensor([3.0, 1.0, 2.0, 1.0, 1.0, 5.0]))

    def forward(self, x):
        h = self.trunk(x)
        target = torch.sigmoid(self.teacher(h))
        return F.binary_cross_entropy_with_logits(h, target, pos_weight=self.weight)


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(),)
