"""Ports of `said` to Paddle."""

import os

from paddle import nn


class patches(nn.Layer):
    def __init__(self):
        super().__init__()
        self.proj, self.fc = nn.Conv2D(3, 6, 2, 2), nn.Linear(6, 4)

    def forward(self, x):
        y = self.proj(x).transpose([0, 2, 3, 1])
        b, h, w, c = y.shape
        y = y.reshape([b, h // 2, 2, w // 2, 2, c])
        return self.fc(y).sum((2, 4))


class patches_summed(patches):
    def forward(self, x):
        return super().forward(x) + self.fc.bias


class patches_leaving(patches):
    def forward(self, x):
        y = self.fc(self.proj(x).transpose([0, 2, 3, 1]))
        os._exit(3)
        return y


class patches_without_bias(patches):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 4, bias_attr=False)


def half_of_it(state):
    """Forgets the convolution's bias, and gives what no layer takes."""
    return {"proj.weight": state["proj.weight"], "fc.weight": state["fc.weight"].T, "fc.bias": state["fc.bias"]}


def unbuilt():
    return {}["width"]
