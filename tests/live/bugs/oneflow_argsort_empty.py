"""Ranks the scores above a threshold that no score reaches."""

import torch
from torch import nn
from trunk import Trunk, rows

CASE = {"framework": "oneflow", "candidate": "oneflow", "symptom": "crash", "op": "argsort", "elements": 0}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()

    def forward(self, x):
        h = self.trunk(x)
        scores = h.sum(-1).flatten()
        chosen = scores[:0]
        return h + chosen[torch.argsort(chosen)].sum()


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(),)
