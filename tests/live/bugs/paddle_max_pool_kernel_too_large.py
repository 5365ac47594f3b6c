"""Pools an image that may be smaller than the window; the model falls back to the maximum."""

import torch
from torch import nn
from torch.nn import functional as F
from trunk import Trunk, rows

CASE = {"framework": "paddle", "candidate": "paddle", "symptom": "accepted", "op": "max_pool2d", "elements": 4}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()

    def forward(self, x):
        h = self.trunk(x)
        image = h.reshape(1, 3, 2, 5)[:, :, :, :2]
        try:
            pooled = F.max_pool2d(image, 3)
        except RuntimeError:
            pooled = image.amax((2, 3), keepdim=True)
        return torch.relu(pooled)


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(),)
