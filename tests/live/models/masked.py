"""A masked autoregressive model: NumPy permutes the patches, a scatter makes the mask, the encoder sees what is left,
and the decoder gets its results written back by index."""

import numpy as np
import torch
from torch import nn
from weights import drawn


def encoder(width):
    layer = nn.TransformerEncoderLayer(width, 4, 40, batch_first=True, norm_first=True, activation="gelu")
    return nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)


class Masked(nn.Module):
    def __init__(self, width=24, patches=16):
        super().__init__()
        self.patches = patches
        self.embed, self.restore = nn.Linear(12, width), nn.Linear(width, 12)
        self.buffer = nn.Parameter(torch.zeros(1, 2, width))
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        self.positions = nn.Parameter(torch.zeros(1, patches + 2, width))
        self.encoder, self.decoder = encoder(width), encoder(width)

    def forward(self, image):
        batch, channels, height, breadth = image.shape
        x = image.reshape(batch, channels, height // 2, 2, breadth // 2, 2)
        x = torch.einsum("nchpwq->nhwcpq", x).reshape(batch, self.patches, channels * 4)
        orders = torch.tensor(np.stack([np.random.permutation(self.patches) for _ in range(batch)])).long()
        hidden = int(np.ceil(self.patches * 0.7))
        mask = torch.scatter(torch.zeros(batch, self.patches), -1, orders[:, :hidden], torch.ones(batch, self.patches))
        seen = (1 - torch.cat([torch.zeros(batch, 2), mask], 1)).nonzero(as_tuple=True)
        y = torch.cat([self.buffer.expand(batch, -1, -1), self.embed(x)], 1) + self.positions
        y = self.encoder(y[seen].reshape(batch, -1, y.shape[-1]))
        z = self.token.repeat(batch, self.patches + 2, 1).clone()
        z[seen] = y.reshape(-1, y.shape[-1])
        z = self.restore(self.decoder(z + self.positions)[:, 2:])
        error = ((z - x) ** 2).mean(-1)
        return (error * mask).sum() / mask.sum(), z


def build(seed=0):
    return drawn(Masked(), seed), torch.randn(2, 3, 8, 8)
