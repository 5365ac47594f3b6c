"""A small network whose middle runs in float16."""

import torch
import torch.nn.functional as F
from torch import nn


class Half(nn.Module):
    """Twelve steps, the middle ones in float16."""

    def __init__(self):
        super().__init__()
        self.wide = nn.Linear(9, 12)
        self.first = nn.Linear(12, 10).half()
        self.second = nn.Linear(10, 8).half()
        self.last = nn.Linear(8, 5)

    def forward(self, x):
        x = torch.tanh(self.wide(x)).to(torch.float16)
        x = F.relu(self.first(x))
        x = torch.softmax(self.second(x) * 40, dim=-1)
        x = (x + 0.5).to(torch.float32)
        return self.last(x * 2)


def build(seed=0):
    """The network and an input."""
    torch.manual_seed(seed)
    return Half().eval(), torch.randn(6, 9)
