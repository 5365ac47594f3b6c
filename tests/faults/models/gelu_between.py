"""A step under test between two that are right."""

from __future__ import annotations

import torch
from torch import nn


def build():
    """Model and input."""
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(5, 6), nn.GELU(), nn.Linear(6, 3)), torch.randn(4, 5)
