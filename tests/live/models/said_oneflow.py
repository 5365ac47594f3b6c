"""Ports of `said` to OneFlow."""

from oneflow import nn


class patches(nn.Module):
    stride = 2

    def __init__(self):
        super().__init__()
        self.proj, self.fc = nn.Conv2d(3, 6, 2, self.stride), nn.Linear(6, 4)

    def forward(self, x):
        y = self.proj(x).permute(0, 2, 3, 1)
        b, h, w, c = y.shape
        y = y.reshape(b, h // 2, 2, w // 2, 2, c).reshape(b, h // 2, 2, w // 2, 2, c)
        return self.fc(y).sum((2, 4))


class patches_unstrided(patches):
    stride = 1
