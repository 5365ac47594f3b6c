"""A loss with label smoothing and ignored rows."""

import torch
from torch import nn
from torch.nn import functional as F
from trunk import Trunk, rows

CASE = {"framework": "paddle", "candidate": "paddle", "symptom": "value", "op": "cross_entropy_loss", "elements": 6}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()

    def forward(self, x, target):
        h = self.trunk(x)
        return F.cross_entropy(h, target, ignore_index=1, label_smoothing=0.1, reduction="sum")


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(), torch.tensor([0, 1, 3, 1, 2]),)
