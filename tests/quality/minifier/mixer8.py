"""MLP-Mixer S/16 with 8 blocks, as ATen sees it; the second linear layer of block 5 has one large bias.

Source: "MLP-Mixer: An all-MLP Architecture for Vision", Tolstikhin et al. 2021, table 1.
"""

import os
import sys

import torch

ZOO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "minrepro", "zoo")
sys.path.insert(0, os.path.normpath(ZOO))
MARK = 8.0


def build(seed=0):
    """The network and one image."""
    from drawing import empty, fill, normal
    from mixer import Mixer

    sizes = dict(patch=(16, 16), blocks=8, width=512, tokens=196, token_mlp=256, channel_mlp=2048, classes=1000)
    model = empty(lambda: Mixer(**sizes))
    fill(model, seed)
    with torch.no_grad():
        model.blocks[5].mlp_channels.fc2.bias[3] = MARK
    return model.eval(), normal(seed, 1, 3, 224, 224)
