"""Attention in shifted windows with a table of relative positions, then patches merged by strided slices."""

import torch
from torch import nn
from weights import drawn


def windows(x, size):
    """(batch, height, breadth, width) as (windows, size * size, width)."""
    batch, height, breadth, width = x.shape
    x = x.view(batch, height // size, size, breadth // size, size, width)
    return x.permute(0, 1, 3, 2, 4, 5).reshape(-1, size * size, width)


class Block(nn.Module):
    def __init__(self, width, side, size=4, heads=2, shift=0):
        super().__init__()
        self.size, self.heads, self.shift = size, heads, shift
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.project = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(approximate="tanh"), nn.Linear(2 * width, width))
        self.table = nn.Parameter(torch.zeros((2 * size - 1) ** 2, heads))
        grid = torch.stack(torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")).flatten(1)
        apart = (grid[:, :, None] - grid[:, None]).permute(1, 2, 0) + size - 1
        self.register_buffer("places", apart[..., 0] * (2 * size - 1) + apart[..., 1])
        strip = torch.zeros(1, side, side, 1)
        if shift:
            for number, part in enumerate((slice(0, -size), slice(-size, -shift), slice(-shift, None))):
                strip[:, part] += number
        strip = windows(strip, size).squeeze(-1)
        self.register_buffer("hidden", (strip[:, None] != strip[:, :, None]).float() * -100.0)

    def forward(self, x):
        batch, height, breadth, width = x.shape
        y = torch.roll(self.norm1(x), (-self.shift, -self.shift), (1, 2))
        y = windows(y, self.size)
        split = self.qkv(y).reshape(y.shape[0], y.shape[1], 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        query, key, value = split[0] * (width // self.heads) ** -0.5, split[1], split[2]
        scores = query @ key.transpose(-2, -1)
        scores = scores + self.table[self.places.view(-1)].view(*self.places.shape, -1).permute(2, 0, 1)
        scores = scores.view(batch, -1, self.heads, *scores.shape[-2:]) + self.hidden[None, :, None]
        mixed = scores.softmax(-1).view(-1, self.heads, *scores.shape[-2:]) @ value
        mixed = self.project(mixed.transpose(1, 2).reshape(y.shape))
        mixed = mixed.view(batch, height // self.size, breadth // self.size, self.size, self.size, width)
        mixed = mixed.permute(0, 1, 3, 2, 4, 5).reshape(batch, height, breadth, width)
        x = x + torch.roll(mixed, (self.shift, self.shift), (1, 2))
        return x + self.mlp(self.norm2(x))


class Windows(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.patches = nn.Conv2d(3, width, 4, stride=4)
        self.blocks = nn.Sequential(Block(width, 8), Block(width, 8, shift=2))
        self.merge, self.norm = nn.Linear(4 * width, 2 * width, bias=False), nn.LayerNorm(4 * width)
        self.head = nn.Linear(2 * width, 7)

    def forward(self, image):
        x = self.blocks(self.patches(image).permute(0, 2, 3, 1))
        corners = [x[:, row::2, column::2] for column in (0, 1) for row in (0, 1)]
        return self.head(self.merge(self.norm(torch.cat(corners, -1))).mean((1, 2)))


def build(seed=0):
    return drawn(Windows(), seed), torch.randn(1, 3, 32, 32)
