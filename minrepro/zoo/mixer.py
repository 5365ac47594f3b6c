"""MLP-Mixer with the module names of timm and the memory layout of the checkpoint that was converted from JAX.

The founding case: 37 of the 150 entries of `mixer_b16` are not in C order. The convolution kernel was permuted from
HWIO to OIHW; `mlp_tokens.fc1`, `mlp_channels.fc1` and `mlp_channels.fc2` were transposed; `mlp_tokens.fc2` and `head`
were transposed too but lay the other way round in the JAX file, so they arrive in C order.

Source: "MLP-Mixer: An all-MLP Architecture for Vision", Tolstikhin et al. 2021, table 1.
"""

from drawing import empty, fill, normal, permute_memory
from torch import nn
from torch.nn import functional as F


class Mlp(nn.Module):
    """Two linear layers with a GELU between them."""

    def __init__(self, size, hidden):
        super().__init__()
        self.fc1 = nn.Linear(size, hidden)
        self.fc2 = nn.Linear(hidden, size)

    def forward(self, x):
        return self.fc2(F.gelu(self.fc1(x)))


class Block(nn.Module):
    """Mix tokens, then channels, each with a residual."""

    def __init__(self, tokens, width, token_mlp, channel_mlp):
        super().__init__()
        self.norm1 = nn.LayerNorm(width, eps=1e-6)
        self.mlp_tokens = Mlp(tokens, token_mlp)
        self.norm2 = nn.LayerNorm(width, eps=1e-6)
        self.mlp_channels = Mlp(width, channel_mlp)

    def forward(self, x):
        x = x + self.mlp_tokens(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.mlp_channels(self.norm2(x))


class Stem(nn.Module):
    """Cut the image into patches and project each."""

    def __init__(self, patch, width):
        super().__init__()
        self.proj = nn.Conv2d(3, width, patch, stride=patch)

    def forward(self, x):
        return self.proj(x).flatten(2).transpose(1, 2)


class Mixer(nn.Module):
    """The network: stem, blocks, norm, mean over the tokens, head."""

    def __init__(self, patch, blocks, width, tokens, token_mlp, channel_mlp, classes):
        super().__init__()
        self.stem = Stem(patch, width)
        self.blocks = nn.Sequential(*(Block(tokens, width, token_mlp, channel_mlp) for _ in range(blocks)))
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        x = self.norm(self.blocks(self.stem(x)))
        return self.head(x.mean(dim=1))


def _made(seed, **sizes):
    model = empty(lambda: Mixer(**sizes))
    permute_memory(model.stem.proj.weight, (2, 3, 1, 0))
    for block in model.blocks:
        for layer in (block.mlp_tokens.fc1, block.mlp_channels.fc1, block.mlp_channels.fc2):
            permute_memory(layer.weight, (1, 0))
    fill(model, seed)
    return model.eval()


def mixer_b16(seed=0):
    """The real size: 59,880,472 parameters in 150 entries."""
    model = _made(
        seed, patch=(16, 16), blocks=12, width=768, tokens=196, token_mlp=384, channel_mlp=3072, classes=1000
    )
    return model, normal(seed, 1, 3, 224, 224)


def mixer_tiny(seed=0):
    """Every dimension has a size of its own, so that a layout fault cannot hide."""
    model = _made(seed, patch=(4, 6), blocks=2, width=10, tokens=56, token_mlp=5, channel_mlp=40, classes=11)
    return model, normal(seed, 2, 3, 28, 48)


def mixer_tiny_square(seed=0):
    """The square twin, in which a layout fault looks like a plain transpose."""
    model = _made(seed, patch=(3, 3), blocks=2, width=9, tokens=9, token_mlp=9, channel_mlp=9, classes=9)
    return model, normal(seed, 2, 3, 9, 9)


ZOO = {
    "mixer": mixer_b16,
    "mixer_b16": mixer_b16,
    "mixer_tiny": mixer_tiny,
    "mixer_tiny_square": mixer_tiny_square,
}
