"""Vision transformer on OneFlow, as somebody would port it by hand: attention is written out there."""

import oneflow as flow
import oneflow.nn.functional as F
from oneflow import nn


class Attention(nn.Module):
    """Self-attention, written out."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.scale = (width // heads) ** -0.5
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        batch, tokens, width = x.shape
        split = self.qkv(x).reshape(batch, tokens, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = split[0], split[1], split[2]
        weights = F.softmax(flow.matmul(q, k.transpose(-2, -1)) * self.scale, dim=-1)
        return self.proj(flow.matmul(weights, v).transpose(1, 2).reshape(batch, tokens, width))


class Mlp(nn.Module):
    """Two linear layers with a GELU between them."""

    def __init__(self, width, hidden):
        super().__init__()
        self.fc1 = nn.Linear(width, hidden)
        self.fc2 = nn.Linear(hidden, width)

    def forward(self, x):
        return self.fc2(F.gelu(self.fc1(x)))


class Block(nn.Module):
    """Attention and MLP, each behind a norm and with a residual."""

    def __init__(self, width, heads, hidden):
        super().__init__()
        self.norm1 = nn.LayerNorm(width, eps=1e-6)
        self.attn = Attention(width, heads)
        self.norm2 = nn.LayerNorm(width, eps=1e-6)
        self.mlp = Mlp(width, hidden)

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class PatchEmbed(nn.Module):
    """Cut the image into patches and project each."""

    def __init__(self, patch, width):
        super().__init__()
        self.proj = nn.Conv2d(3, width, patch, stride=patch)

    def forward(self, x):
        return self.proj(x).flatten(2).transpose(1, 2)


class Vit(nn.Module):
    """The network: patches, class token, positions, blocks, norm, head on the class token."""

    def __init__(self, patch, patches, blocks, width, heads, hidden, classes):
        super().__init__()
        self.patch_embed = PatchEmbed(patch, width)
        self.cls_token = nn.Parameter(flow.zeros(1, 1, width))
        self.pos_embed = nn.Parameter(flow.zeros(1, 1 + patches, width))
        self.blocks = nn.Sequential(*[Block(width, heads, hidden) for _ in range(blocks)])
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        x = self.patch_embed(x)
        x = flow.cat([self.cls_token.expand(x.shape[0], -1, -1), x], dim=1) + self.pos_embed
        return self.head(self.norm(self.blocks(x))[:, 0])


def vit_tiny():
    """Two blocks, three heads, 21 tokens of width 24."""
    return Vit(patch=(4, 6), patches=20, blocks=2, width=24, heads=3, hidden=40, classes=7).eval()


ZOO = {"vit_tiny": vit_tiny}


def convert(state):
    """State of the reference as state of this network: the same keys, shapes and values."""
    return dict(state)
