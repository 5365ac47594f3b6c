"""Ports of `said` to Paddle."""

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


def unbuilt():
    return {}["width"]
