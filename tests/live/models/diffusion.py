"""The denoiser of a diffusion model: sinusoidal times, group norms, attention over pixels, a skip across the middle."""

import math

import torch
from torch import nn
from torch.nn import functional as F
from weights import drawn


class Residual(nn.Module):
    def __init__(self, width, out, times):
        super().__init__()
        self.norm1, self.norm2 = nn.GroupNorm(4, width), nn.GroupNorm(4, out)
        self.conv1 = nn.Conv2d(width, out, 3, padding=1)
        self.conv2 = nn.Conv2d(out, out, 3, padding=1)
        self.time = nn.Linear(times, out)
        self.skip = nn.Conv2d(width, out, 1) if width != out else nn.Identity()

    def forward(self, x, time):
        y = self.conv1(F.silu(self.norm1(x))) + self.time(F.silu(time))[:, :, None, None]
        return self.conv2(F.silu(self.norm2(y))) + self.skip(x)


class Attention(nn.Module):
    def __init__(self, width, heads=4):
        super().__init__()
        self.heads = heads
        self.norm = nn.GroupNorm(4, width, eps=1e-6)
        self.qkv = nn.Conv2d(width, 3 * width, 1)
        self.out = nn.Conv2d(width, width, 1)

    def forward(self, x):
        batch, width, height, breadth = x.shape
        split = self.qkv(self.norm(x)).reshape(batch, 3, self.heads, width // self.heads, height * breadth)
        query, key, value = split.permute(1, 0, 2, 4, 3).unbind(0)
        mixed = F.scaled_dot_product_attention(query, key, value)
        return x + self.out(mixed.transpose(-1, -2).reshape(batch, width, height, breadth))


class Denoiser(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.times = nn.Sequential(nn.Linear(16, 24), nn.SiLU(), nn.Linear(24, 24))
        self.enter, self.leave = nn.Conv2d(3, width, 3, padding=1), nn.Conv2d(width, 3, 3, padding=1)
        self.down, self.halve = Residual(width, width, 24), nn.Conv2d(width, width, 3, stride=2, padding=1)
        self.middle, self.attention = Residual(width, 2 * width, 24), Attention(2 * width)
        self.up = Residual(3 * width, width, 24)

    def forward(self, image, step):
        rates = torch.exp(-math.log(10000) * torch.arange(8, dtype=torch.float32) / 8)
        angles = step[:, None].float() * rates[None]
        time = self.times(torch.cat([angles.cos(), angles.sin()], -1))
        skip = self.down(self.enter(image), time)
        deep = self.attention(self.middle(self.halve(skip), time))
        deep = F.interpolate(deep, scale_factor=2.0, mode="nearest")
        return self.leave(self.up(torch.cat([deep, skip], 1), time))


def build(seed=0):
    return drawn(Denoiser(), seed), (torch.randn(2, 3, 8, 8), torch.tensor([3, 90]))
