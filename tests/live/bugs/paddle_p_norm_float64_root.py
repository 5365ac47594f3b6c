"""A 3-norm in double precision."""

import torch
from torch import nn
from trunk import Trunk, rows

CASE = {"framework": "paddle", "candidate": "paddle", "symptom": "value", "op": "linalg_vector_norm", "elements": 2}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()

    def forward(self, x):
        h = self.trunk(x)
        return h / torch.linalg.vector_norm(h.double(), 3, dim=-1, keepdim=True)


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(),)
