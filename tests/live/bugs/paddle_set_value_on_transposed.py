"""An autoencoder whose decoder is tied to its encoder: one weight, stored once, loaded through both names."""

import torch
from torch import nn
from trunk import Trunk, rows

CASE = {
    "framework": "paddle", "candidate": "paddle", "symptom": "value", "op": "load_transposed", "elements": 8,
    "mode": "load",
}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()
        self.encoder, self.decoder = nn.Linear(6, 4), nn.Linear(4, 6)
        self.decoder.weight = nn.Parameter(self.encoder.weight.detach().t())

    def forward(self, x):
        return self.decoder(torch.relu(self.encoder(self.trunk(x))))


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(),)
