"""A segmentation network: down by pooling, up by a transposed convolution and by resizing, with skips and a dropout."""

import torch
from torch import nn
from torch.nn import functional as F
from weights import drawn


def stage(width, out):
    return nn.Sequential(nn.Conv2d(width, out, 3, padding=1, bias=False), nn.BatchNorm2d(out), nn.ReLU(inplace=True))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.third = stage(3, 8), stage(8, 12), stage(12, 16)
        self.raise_third = nn.ConvTranspose2d(16, 12, 2, stride=2)
        self.join_second, self.join_first = stage(24, 12), stage(20, 8)
        self.classes = nn.Conv2d(8, 3, 1)

    def forward(self, image):
        first = self.first(image)
        second = self.second(F.max_pool2d(first, 2))
        third = self.third(F.avg_pool2d(second, 2))
        second = self.join_second(torch.cat([self.raise_third(third), second], 1))
        raised = F.interpolate(second, size=first.shape[2:], mode="bilinear", align_corners=False)
        first = self.join_first(torch.cat([raised, first], 1))
        return self.classes(F.dropout2d(first, 0.3, self.training)).softmax(1)


def build(seed=0):
    return drawn(UNet(), seed), torch.randn(1, 3, 16, 16)
