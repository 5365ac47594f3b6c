"""Vision transformer on Paddle, as somebody would port it by hand: the names of the reference, Paddle's layers."""

import paddle
import paddle.nn.functional as F
from paddle import nn


class Attention(nn.Layer):
    """Self-attention; Paddle's fused kernel wants (batch, tokens, heads, channels)."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        batch, tokens, width = x.shape
        split = self.qkv(x).reshape([batch, tokens, 3, self.heads, width // self.heads])
        q, k, v = split.unbind(2)
        mixed = F.scaled_dot_product_attention(q, k, v)
        return self.proj(mixed.reshape([batch, tokens, width]))


class Mlp(nn.Layer):
    """Two linear layers with a GELU between them."""

    def __init__(self, width, hidden):
        super().__init__()
        self.fc1 = nn.Linear(width, hidden)
        self.fc2 = nn.Linear(hidden, width)

    def forward(self, x):
        return self.fc2(F.gelu(self.fc1(x)))


class Block(nn.Layer):
    """Attention and MLP, each behind a norm and with a residual."""

    def __init__(self, width, heads, hidden):
        super().__init__()
        self.norm1 = nn.LayerNorm(width, epsilon=1e-6)
        self.attn = Attention(width, heads)
        self.norm2 = nn.LayerNorm(width, epsilon=1e-6)
        self.mlp = Mlp(width, hidden)

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class PatchEmbed(nn.Layer):
    """Cut the image into patches and project each."""

    def __init__(self, patch, width):
        super().__init__()
        self.proj = nn.Conv2D(3, width, patch, stride=patch)

    def forward(self, x):
        return self.proj(x).flatten(2).transpose([0, 2, 1])


class Vit(nn.Layer):
    """The network: patches, class token, positions, blocks, norm, head on the class token."""

    def __init__(self, patch, patches, blocks, width, heads, hidden, classes):
        super().__init__()
        self.patch_embed = PatchEmbed(patch, width)
        self.cls_token = self.create_parameter([1, 1, width])
        self.pos_embed = self.create_parameter([1, 1 + patches, width])
        self.blocks = nn.Sequential(*[Block(width, heads, hidden) for _ in range(blocks)])
        self.norm = nn.LayerNorm(width, epsilon=1e-6)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        x = self.patch_embed(x)
        x = paddle.concat([self.cls_token.expand([x.shape[0], -1, -1]), x], axis=1) + self.pos_embed
        return self.head(self.norm(self.blocks(x))[:, 0])


def vit_tiny():
    """Two blocks, three heads, 21 tokens of width 24."""
    model = Vit(patch=(4, 6), patches=20, blocks=2, width=24, heads=3, hidden=40, classes=7)
    model.eval()
    return model


ZOO = {"vit_tiny": vit_tiny}

LINEAR = (".qkv.weight", ".attn.proj.weight", ".fc1.weight", ".fc2.weight", "head.weight")


def convert(state):
    """State of the reference as state of this network: Paddle keeps the weight of a linear layer as (in, out)."""
    return {key: value.T if key.endswith(LINEAR) else value for key, value in state.items()}
