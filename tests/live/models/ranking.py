"""A recommender: bags of sparse features next to dense ones, all pairs multiplied, the lower triangle kept."""

import torch
from torch import nn
from weights import drawn


class Ranking(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.bags = nn.ModuleList(nn.EmbeddingBag(20, width, mode=mode) for mode in ("sum", "mean", "sum"))
        self.dense = nn.Sequential(nn.Linear(5, 12), nn.ReLU(), nn.Linear(12, width), nn.ReLU())
        self.score = nn.Sequential(nn.Linear(width + 6, 12), nn.ReLU(), nn.Linear(12, 1), nn.Sigmoid())

    def forward(self, numbers, items, starts):
        dense = self.dense(numbers)
        features = [dense] + [bag(item, start) for bag, item, start in zip(self.bags, items, starts)]
        stacked = torch.stack(features, 1)
        pairs = torch.bmm(stacked, stacked.transpose(1, 2))
        row, column = torch.tril_indices(4, 4, -1)
        return self.score(torch.cat([dense, pairs[:, row, column]], 1))


def build(seed=0):
    items = [torch.randint(0, 20, (7,)) for _ in range(3)]
    starts = [torch.tensor([0, 2, 5]), torch.tensor([0, 1, 6]), torch.tensor([0, 4, 4])]
    return drawn(Ranking(), seed), (torch.randn(3, 5), items, starts)
