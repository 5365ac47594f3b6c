"""Hashes token ids into four buckets with a bit mask."""

import torch
from torch import nn
from trunk import Trunk, rows

CASE = {"framework": "oneflow", "candidate": "oneflow", "symptom": "dtype", "op": "__and__", "elements": 2}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()
        self.table = nn.Embedding(4, 6)

    def forward(self, x, ids, mask):
        h = self.trunk(x)
        return h + self.table(ids & mask)


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(), torch.arange(5) * 7, torch.tensor([3, 3, 1, 3, 2]),)
