"""Resizes by a factor so small that the size stays."""

import torch
from torch import nn
from torch.nn import functional as F
from trunk import Trunk, rows

CASE = {
    "framework": "oneflow", "candidate": "oneflow", "symptom": "value", "op": "upsample_bilinear2d.vec", "elements": 4,
}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()

    def forward(self, x):
        h = self.trunk(x)
        image = h.reshape(1, 2, 3, 5)[:, :, :, :4]
        return F.interpolate(image, scale_factor=(1.0, 1.2), mode="bilinear", align_corners=False).relu()


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(),)
