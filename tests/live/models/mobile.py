"""Inverted residuals with depthwise convolutions, squeeze and excitation, and hard activations; channel shuffling."""

import torch
from torch import nn
from torch.nn import functional as F
from weights import drawn


class Excite(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.reduce, self.expand = nn.Conv2d(width, width // 4, 1), nn.Conv2d(width // 4, width, 1)

    def forward(self, x):
        return x * F.hardsigmoid(self.expand(F.relu(self.reduce(F.adaptive_avg_pool2d(x, 1)))))


class Inverted(nn.Module):
    def __init__(self, width, out, stride, kernel):
        super().__init__()
        inner = 3 * width
        self.kept = stride == 1 and width == out
        self.layers = nn.Sequential(
            nn.Conv2d(width, inner, 1, bias=False), nn.BatchNorm2d(inner, eps=1e-3), nn.Hardswish(inplace=True),
            nn.Conv2d(inner, inner, kernel, stride, kernel // 2, groups=inner, bias=False), nn.BatchNorm2d(inner),
            nn.Hardswish(), Excite(inner), nn.Conv2d(inner, out, 1, bias=False), nn.BatchNorm2d(out),
        )

    def forward(self, x):
        return x + self.layers(x) if self.kept else self.layers(x)


class Mobile(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8), nn.ReLU6(inplace=True))
        self.blocks = nn.Sequential(Inverted(8, 8, 1, 3), Inverted(8, 12, 2, 5), Inverted(12, 12, 1, 5))
        self.grouped = nn.Conv2d(12, 12, 3, padding=1, groups=3)
        self.head = nn.Sequential(nn.Linear(12, 16), nn.Hardswish(), nn.Dropout(0.2), nn.Linear(16, 5))

    def forward(self, image):
        x = self.blocks(self.stem(image))
        batch, width, height, breadth = x.shape
        x = x.view(batch, 3, width // 3, height, breadth).transpose(1, 2).contiguous().view(x.shape)
        return self.head(self.grouped(x).mean((2, 3)))


def build(seed=0):
    return drawn(Mobile(), seed), torch.randn(2, 3, 24, 24)
