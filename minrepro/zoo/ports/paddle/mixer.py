"""MLP-Mixer on Paddle, as somebody would port it by hand: the module names of the reference, Paddle's layers.

A port file defines ``ZOO`` (name -> callable that returns the network in eval mode), ``convert`` (state of the
reference -> state of this network, as NumPy arrays) and, where paths differ, ``MAP``. It runs in Paddle's worker.
"""

import paddle
import paddle.nn.functional as F
from paddle import nn
from paddle.nn.initializer import Constant, set_global_initializer


class Mlp(nn.Layer):
    """Two linear layers with a GELU between them."""

    def __init__(self, size, hidden):
        super().__init__()
        self.fc1 = nn.Linear(size, hidden)
        self.fc2 = nn.Linear(hidden, size)

    def forward(self, x):
        return self.fc2(F.gelu(self.fc1(x)))


class Block(nn.Layer):
    """Mix tokens, then channels, each with a residual."""

    def __init__(self, tokens, width, token_mlp, channel_mlp):
        super().__init__()
        self.norm1 = nn.LayerNorm(width, epsilon=1e-6)
        self.mlp_tokens = Mlp(tokens, token_mlp)
        self.norm2 = nn.LayerNorm(width, epsilon=1e-6)
        self.mlp_channels = Mlp(width, channel_mlp)

    def forward(self, x):
        mixed = self.mlp_tokens(self.norm1(x).transpose([0, 2, 1]))
        x = x + mixed.transpose([0, 2, 1])
        return x + self.mlp_channels(self.norm2(x))


class Stem(nn.Layer):
    """Cut the image into patches and project each."""

    def __init__(self, patch, width):
        super().__init__()
        self.proj = nn.Conv2D(3, width, patch, stride=patch)

    def forward(self, x):
        return self.proj(x).flatten(2).transpose([0, 2, 1])


class Mixer(nn.Layer):
    """The network: stem, blocks, norm, mean over the tokens, head."""

    def __init__(self, patch, blocks, width, tokens, token_mlp, channel_mlp, classes):
        super().__init__()
        self.stem = Stem(patch, width)
        self.blocks = nn.Sequential(*[Block(tokens, width, token_mlp, channel_mlp) for _ in range(blocks)])
        self.norm = nn.LayerNorm(width, epsilon=1e-6)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        x = self.norm(self.blocks(self.stem(x)))
        return self.head(paddle.mean(x, axis=1))


def _made(**sizes):
    # The weights get loaded: drawing them first would take longer than everything else.
    set_global_initializer(Constant(0.0), Constant(0.0))
    try:
        model = Mixer(**sizes)
    finally:
        set_global_initializer(None)
    model.eval()
    return model


def mixer_b16():
    """The real size."""
    return _made(patch=(16, 16), blocks=12, width=768, tokens=196, token_mlp=384, channel_mlp=3072, classes=1000)


def mixer_tiny():
    """Every dimension has a size of its own."""
    return _made(patch=(4, 6), blocks=2, width=10, tokens=56, token_mlp=5, channel_mlp=40, classes=11)


def mixer_tiny_square():
    """The square twin."""
    return _made(patch=(3, 3), blocks=2, width=9, tokens=9, token_mlp=9, channel_mlp=9, classes=9)


ZOO = {
    "mixer": mixer_b16,
    "mixer_b16": mixer_b16,
    "mixer_tiny": mixer_tiny,
    "mixer_tiny_square": mixer_tiny_square,
}

LINEAR = (".fc1.weight", ".fc2.weight", "head.weight")


def convert(state):
    """State of the reference as state of this network: Paddle keeps the weight of a linear layer as (in, out)."""
    return {key: value.T if key.endswith(LINEAR) else value for key, value in state.items()}
