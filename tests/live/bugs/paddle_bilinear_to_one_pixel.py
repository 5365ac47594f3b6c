"""Resizes a feature map to one pixel."""

import torch
from torch import nn
from torch.nn import functional as F
from trunk import Trunk, rows

CASE = {
    "framework": "paddle", "candidate": "paddle", "symptom": "value", "op": "upsample_bilinear2d.vec", "elements": 2,
}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()

    def forward(self, x):
        h = self.trunk(x)
        return F.interpolate(h.reshape(1, 2, 3, 5), size=(1, 1), mode="bilinear", align_corners=False).relu()


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(),)
