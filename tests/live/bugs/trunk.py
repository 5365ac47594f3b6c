"""What every model here hides its trigger in: an innocent block of a dozen operators, on any width that is even."""

import torch
from torch import nn
from torch.nn import functional as F


class Trunk(nn.Module):
    """(rows, width) -> (rows, width): a gated MLP, rows mixed by attention, then the two halves swapped."""

    def __init__(self, width=6, hidden=10):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, hidden), nn.Linear(hidden, width)
        self.gate = nn.Linear(width, width)

    def forward(self, x):
        h = self.down(F.gelu(self.up(self.norm(x)))) + x
        h = h * torch.sigmoid(self.gate(h))
        weights = torch.softmax(h @ h.transpose(0, 1) * 0.5, -1)
        h = weights @ h + h
        return torch.cat(h.reshape(x.shape[0], 2, -1).unbind(1)[::-1], -1)


def rows(count=5, width=6):
    """Input of a trunk."""
    return torch.randn(count, width)
