"""Eigenvalues of a matrix that may hold NaN; the model falls back to the diagonal."""

import torch
from torch import nn
from trunk import Trunk, rows

CASE = {"framework": "paddle", "candidate": "paddle", "symptom": "crash", "op": "linalg_eig", "elements": 4}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()

    def forward(self, x):
        h = self.trunk(x)
        square = torch.sqrt(h[:4, :4])
        try:
            spectrum = torch.linalg.eig(square)[0].real
        except RuntimeError:
            spectrum = torch.nan_to_num(square).diagonal()
        return h[:4, :4] * spectrum


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(),)
