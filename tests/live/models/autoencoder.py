"""A variational autoencoder: convolutions down, a draw from the latent distribution, transposed convolutions up."""

import torch
from torch import nn
from torch.nn import functional as F
from weights import drawn


class Autoencoder(nn.Module):
    def __init__(self, latent=5):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, 6, 4, 2, 1), nn.BatchNorm2d(6), nn.LeakyReLU(0.2),
            nn.Conv2d(6, 10, 4, 2, 1), nn.ELU(), nn.Flatten(),
        )
        self.mean, self.spread = nn.Linear(160, latent), nn.Linear(160, latent)
        self.project = nn.Linear(latent, 160)
        self.decoder = nn.Sequential(
            nn.Unflatten(1, (10, 4, 4)), nn.ConvTranspose2d(10, 6, 4, 2, 1), nn.BatchNorm2d(6), nn.ReLU(),
            nn.ConvTranspose2d(6, 4, 3, 2, 1, output_padding=1, bias=False), nn.Softplus(),
            nn.Conv2d(4, 1, 3, padding=1),
        )

    def forward(self, image):
        seen = self.encoder(image)
        mean, spread = self.mean(seen), self.spread(seen).clamp(-4, 4)
        latent = mean + torch.randn_like(mean) * (0.5 * spread).exp()
        drawn_again = self.decoder(self.project(latent))
        apart = -0.5 * (1 + spread - mean.pow(2) - spread.exp()).sum(1).mean()
        loss = F.binary_cross_entropy_with_logits(drawn_again, image.sigmoid()) + apart
        return {"loss": loss, "image": torch.sigmoid(drawn_again), "mean": mean}


def build(seed=0):
    return drawn(Autoencoder(), seed), torch.randn(2, 1, 16, 16)
