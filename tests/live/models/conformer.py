"""A speech encoder: strided convolution, then halves of feed-forward around attention and a depthwise convolution.
Frames beyond an utterance's length are masked."""

import torch
from torch import nn
from torch.nn import functional as F
from weights import drawn


def feed_forward(width):
    return nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.SiLU(), nn.Linear(2 * width, width))


class Block(nn.Module):
    def __init__(self, width=24, kernel=5):
        super().__init__()
        self.first, self.last = feed_forward(width), feed_forward(width)
        self.norm, self.attention = nn.LayerNorm(width), nn.MultiheadAttention(width, 4, batch_first=True)
        self.before = nn.LayerNorm(width)
        self.widen = nn.Conv1d(width, 2 * width, 1)
        self.depthwise = nn.Conv1d(width, width, kernel, padding=kernel // 2, groups=width)
        self.statistics, self.mix = nn.BatchNorm1d(width), nn.Conv1d(width, width, 1)
        self.after = nn.LayerNorm(width)

    def forward(self, x, hidden):
        x = x + 0.5 * self.first(x)
        y = self.norm(x)
        x = x + self.attention(y, y, y, key_padding_mask=hidden, need_weights=False)[0]
        y = self.before(x).transpose(1, 2).masked_fill(hidden[:, None], 0.0)
        y = F.silu(self.statistics(self.depthwise(F.glu(self.widen(y), 1))))
        x = x + self.mix(y).transpose(1, 2)
        return self.after(x + 0.5 * self.last(x))


class Conformer(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.stride = nn.Conv2d(1, 6, 3, stride=2)
        self.project = nn.Linear(6 * 9, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(2))

    def forward(self, sound, lengths):
        frames = F.relu(self.stride(sound[:, None])).permute(0, 2, 1, 3).flatten(2)
        x = self.project(frames)
        hidden = torch.arange(x.shape[1])[None] >= lengths[:, None]
        for block in self.blocks:
            x = block(x, hidden)
        return x


def build(seed=0):
    return drawn(Conformer(), seed), (torch.randn(2, 19, 20), torch.tensor([9, 5]))
