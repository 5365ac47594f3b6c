"""Reference models for `test_align_cases`: zoo models in odd circumstances, and small ones of their own."""

import sys
from pathlib import Path

import torch
from torch import nn

ZOO = Path(__file__).resolve().parents[3] / "minrepro/zoo"
sys.path.insert(0, str(ZOO))
import mar  # noqa: E402
import vit  # noqa: E402


class Cast(vit.Vit):
    """Runs in half the precision, as a demo's notebook does around a model."""

    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return super().forward(x)


def autocast(seed=0):
    """vit_tiny inside an autocast context."""
    module, inputs = vit.vit_tiny(seed)
    module.__class__ = Cast
    return module, inputs


def explosive(seed=0):
    """mar_tiny with a variance channel that leaves its bounds: single rows of the variational term own the loss."""
    module, inputs = mar.mar_tiny(seed)
    linear = module.diffloss.net.final_layer.linear
    half = linear.weight.shape[0] // 2
    with torch.no_grad():
        linear.weight[half:] *= 200
        linear.bias[half:] *= 200
    return module, inputs


class Late(nn.Module):
    """Makes its first layer in its first call."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.LazyLinear(5), nn.Linear(5, 3)

    def forward(self, x):
        return self.b(torch.relu(self.a(x)))


def late(seed=0):
    """A model with a lazy layer."""
    torch.manual_seed(seed)
    return Late(), torch.randn(2, 7)


class Parts(nn.Module):
    """Passes values through a generator, and returns views."""

    def __init__(self):
        super().__init__()
        self.b = nn.Linear(5, 4)

    def parts(self, x):
        for factor in range(3):
            yield self.b(x * factor)

    def forward(self, x):
        y = sum(self.parts(x))
        return y[:, ::2], {"rest": y[:, 1::2], "none": None}


def parts(seed=0):
    """A model with a generator inside and views as results."""
    torch.manual_seed(seed)
    return Parts(), torch.randn(2, 5)
