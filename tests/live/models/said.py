"""Reference models for `test_align_messages`."""

import torch
from torch import nn


class Patches(nn.Module):
    """Cuts an image into windows."""

    def __init__(self):
        super().__init__()
        self.proj, self.fc = nn.Conv2d(3, 6, 2, 2), nn.Linear(6, 4)

    def forward(self, x):
        y = self.proj(x).permute(0, 2, 3, 1)
        b, h, w, c = y.shape
        y = y.reshape(b, h // 2, 2, w // 2, 2, c)
        return self.fc(y).sum((2, 4))


def patches():
    return Patches(), torch.randn(2, 3, 8, 8)
