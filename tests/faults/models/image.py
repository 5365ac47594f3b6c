"""A small convolutional network with signed activations in front of its pools."""

import torch
import torch.nn.functional as F
from torch import nn


class Image(nn.Module):
    """Ten steps: convolutions, group norm, max and average pooling with padding."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 6, 3, padding=1)
        self.norm = nn.GroupNorm(3, 6)
        self.second = nn.Conv2d(6, 4, 3)
        self.head = nn.Linear(4, 5)

    def forward(self, x):
        x = self.norm(self.first(x))
        x = F.max_pool2d(x, 3, stride=2, padding=1)
        x = torch.tanh(self.second(x))
        x = F.avg_pool2d(x, 3, stride=2, padding=1)
        x = x.mean(dim=(2, 3)) * 2 + 1
        return F.silu(self.head(x))


def build(seed=0):
    """The network and an input."""
    torch.manual_seed(seed)
    module = Image().eval()
    with torch.no_grad():
        module.norm.weight.normal_(1.0, 0.2)
        module.norm.bias.normal_(0.0, 0.3)
    return module, torch.randn(2, 3, 16, 20)
