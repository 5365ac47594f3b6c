"""A language model as they are built today: rotary positions, root-mean-square norms, gated layers, shared key heads,
a causal mask of infinities, and a head that is tied to the embedding."""

import torch
from torch import nn
from torch.nn import functional as F
from weights import drawn


class RootNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return self.scale * (x * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-6)).type_as(x)


def rotated(x, cos, sin):
    """Turn each pair of neighbours by its angle."""
    even, odd = x[..., ::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], -1).flatten(-2)


class Block(nn.Module):
    def __init__(self, width=32, heads=4, shared=2, hidden=48):
        super().__init__()
        self.heads, self.shared, self.size = heads, shared, width // heads
        self.before, self.between = RootNorm(width), RootNorm(width)
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, shared * self.size, bias=False)
        self.value = nn.Linear(width, shared * self.size, bias=False)
        self.mixed = nn.Linear(width, width, bias=False)
        self.gate = nn.Linear(width, hidden, bias=False)
        self.up = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x, cos, sin):
        batch, length, width = x.shape
        y = self.before(x)
        query = rotated(self.query(y).view(batch, length, self.heads, self.size), cos, sin)
        key = rotated(self.key(y).view(batch, length, self.shared, self.size), cos, sin)
        value = self.value(y).view(batch, length, self.shared, self.size)
        key, value = (part.repeat_interleave(self.heads // self.shared, dim=2) for part in (key, value))
        scores = torch.matmul(query.transpose(1, 2), key.permute(0, 2, 3, 1)) / self.size**0.5
        scores = scores + torch.full((length, length), float("-inf")).triu(1)
        mixed = (scores.softmax(-1) @ value.transpose(1, 2)).transpose(1, 2).reshape(batch, length, width)
        x = x + self.mixed(mixed)
        y = self.between(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Decoder(nn.Module):
    def __init__(self, words=50, width=32, depth=2):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(depth))
        self.norm = RootNorm(width)
        self.head = nn.Linear(width, words, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, tokens):
        places = torch.arange(tokens.shape[1]).float()
        angles = torch.outer(places, 1 / 10000 ** (torch.arange(0, 8, 2).float() / 8))
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x, angles.cos()[:, None], angles.sin()[:, None])
        return self.head(self.norm(x))[:, -3:]


def build(seed=0):
    return drawn(Decoder(), seed), torch.randint(0, 50, (2, 7))
