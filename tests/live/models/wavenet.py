"""Dilated causal convolutions with weight normalisation, gates and skip sums, over raw sound."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.parametrizations import weight_norm
from weights import drawn


class WaveNet(nn.Module):
    def __init__(self, width=12, depth=4):
        super().__init__()
        self.enter = nn.Conv1d(1, width, 1)
        self.dilated = nn.ModuleList(
            weight_norm(nn.Conv1d(width, 2 * width, 2, dilation=2**level)) for level in range(depth)
        )
        self.mix = nn.ModuleList(nn.Conv1d(width, width, 1) for _ in range(depth))
        self.leave = nn.Sequential(nn.ReLU(), nn.Conv1d(width, width, 1), nn.LeakyReLU(0.1), nn.Conv1d(width, 8, 1))

    def forward(self, sound):
        x, skips = self.enter(sound), 0
        for level, (dilated, mix) in enumerate(zip(self.dilated, self.mix)):
            value, gate = dilated(F.pad(x, (2**level, 0))).chunk(2, dim=1)
            y = mix(torch.tanh(value) * torch.sigmoid(gate))
            skips, x = skips + y, x + y
        return self.leave(skips)


def build(seed=0):
    return drawn(WaveNet(), seed), torch.randn(2, 1, 30)
