"""Sum pooling over a padded image: an average with divisor 1."""

import torch
from torch import nn
from torch.nn import functional as F
from trunk import Trunk, rows

CASE = {"framework": "paddle", "candidate": "paddle", "symptom": "value", "op": "avg_pool2d", "elements": 1}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()

    def forward(self, x):
        h = self.trunk(x)
        image = h.reshape(1, 1, 5, 6)
        return F.avg_pool2d(image, 3, 1, 1, count_include_pad=False, divisor_override=1).relu()


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(),)
