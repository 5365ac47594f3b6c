"""Log likelihood of events under the probabilities of a trained head.

The distribution also broadcasts its parameter alone, and Paddle refuses the gradient of that: a bug of its own, which is
found first.
"""

import torch
from torch import nn
from trunk import Trunk, rows

CASE = {
    "framework": "paddle", "candidate": "paddle", "mode": "backward", "symptom": "crash",
    "op": "grad:broadcast_tensors", "elements": 3, "site": 1,
}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()

    def forward(self, x, events):
        h = self.trunk(x)
        return torch.distributions.Bernoulli(torch.sigmoid(h)).log_prob(events).mean()


def build(seed=0):
    torch.manual_seed(seed)
    return Model(), (rows(), (torch.arange(30).reshape(5, 6) % 3 == 0).float())
