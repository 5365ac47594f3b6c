"""A dilated transposed convolution with output padding."""

import torch
from torch import nn
from trunk import Trunk, rows

CASE = {"framework": "paddle", "candidate": "paddle", "symptom": "exception", "op": "conv_transpose1d", "elements": 2}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()
        self.up = nn.ConvTranspose1d(5, 3, 1, output_padding=1, dilation=2)

    def forward(self, x):
        h = self.trunk(x)
        return torch.relu(self.up(h[None]))


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(),)
