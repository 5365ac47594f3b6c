"""Ports of interfaces.py to OneFlow; see interfaces_paddle.py."""

import oneflow as flow
from oneflow import nn


class Causal(nn.Module):
    """Hands the past in as a part of its own."""

    def __init__(self, width, step):
        super().__init__()
        self.step = step
        self.conv, self.project = nn.Conv1d(width, width, 3, padding=2 * step, dilation=step), nn.Conv1d(width, width, 1)

    def forward(self, x):
        made = self.conv(x)[:, :, : x.shape[2]]
        return x + self.project(flow.tanh(made))


class Tones(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.top = nn.Conv1d(2, 6, 1), nn.Conv1d(6, 3, 1)
        self.stack = nn.ModuleList([Causal(6, 1), Causal(6, 2)])

    def forward(self, x):
        x = self.stem(x)
        for layer in self.stack:
            x = layer(x)
        return self.top(x)


def tones():
    return Tones()


def tones_convert(state):
    names = {"first": "stem", "last": "top", "steps": "stack", "mix": "conv", "out": "project"}
    return {".".join(names.get(part, part) for part in key.split(".")): value for key, value in state.items()}
