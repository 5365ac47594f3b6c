"""A small network in which some values are not numbers, as a logarithm of negative numbers leaves them."""

import torch
import torch.nn.functional as F
from torch import nn


class Logarithms(nn.Module):
    """Ten steps; the nan values meet elementwise operators only."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(9, 11)
        self.scale = nn.Parameter(torch.randn(11))

    def forward(self, x):
        x = self.first(x)
        y = torch.log(x * 2)
        y = F.relu(y + 0.5)
        z = torch.clamp(y - self.scale, min=-0.75, max=0.75)
        return torch.tanh(z) * self.scale + torch.sigmoid(x)


def build(seed=0):
    """The network and an input."""
    torch.manual_seed(seed)
    return Logarithms().eval(), torch.randn(6, 9)
