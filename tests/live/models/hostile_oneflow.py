"""Ports of `hostile` to OneFlow."""

from oneflow import nn


class dropping(nn.Module):
    def __init__(self):
        super().__init__()
        self.r = nn.LSTM(4, 6, num_layers=2, dropout=0.5, batch_first=True)

    def forward(self, x):
        return self.r(x)[0]


class dropped(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.d = nn.Linear(4, 4), nn.Dropout(0.5)

    def forward(self, x):
        return self.d(self.fc(x))
