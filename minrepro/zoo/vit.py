"""Vision transformer in miniature, with the module names of timm and a fused `attn.qkv`.

Source: "An Image is Worth 16x16 Words", Dosovitskiy et al. 2020.
"""

import torch
from drawing import empty, fill, normal
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    """Self-attention through the fused kernel."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        batch, tokens, width = x.shape
        split = self.qkv(x).reshape(batch, tokens, 3, self.heads, width // self.heads)
        q, k, v = split.permute(2, 0, 3, 1, 4).unbind(0)
        mixed = F.scaled_dot_product_attention(q, k, v)
        return self.proj(mixed.transpose(1, 2).reshape(batch, tokens, width))


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
        self.cls_token = nn.Parameter(torch.empty(1, 1, width))
        self.pos_embed = nn.Parameter(torch.empty(1, 1 + patches, width))
        self.blocks = nn.Sequential(*(Block(width, heads, hidden) for _ in range(blocks)))
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        x = self.patch_embed(x)
        x = torch.cat([self.cls_token.expand(x.shape[0], -1, -1), x], dim=1) + self.pos_embed
        return self.head(self.norm(self.blocks(x))[:, 0])


def vit_tiny(seed=0):
    """Two blocks, three heads, 21 tokens of width 24."""
    model = empty(lambda: Vit(patch=(4, 6), patches=20, blocks=2, width=24, heads=3, hidden=40, classes=7))
    fill(model, seed)
    return model.eval(), normal(seed, 2, 3, 16, 30)


ZOO = {"vit_tiny": vit_tiny}
