"""Log-sum-exp over rows of which one is masked out completely."""

import torch
from torch import nn
from trunk import Trunk, rows

CASE = {"framework": "paddle", "candidate": "paddle", "symptom": "nonfinite", "op": "logsumexp", "elements": 2}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()
        self.register_buffer("hidden", torch.tensor([False, True, False, False, True])[:, None])

    def forward(self, x):
        h = self.trunk(x)
        total = torch.logsumexp(h.masked_fill(self.hidden, float("-inf")), -1)
        return torch.exp(total)


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(),)
