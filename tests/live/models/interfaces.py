"""Small models whose right ports have another interface inside; see interfaces_paddle.py and interfaces_oneflow.py."""

import torch
from torch import nn


class Causal(nn.Module):
    """A convolution that is given what came before it."""

    def __init__(self, width, step):
        super().__init__()
        self.step = step
        self.mix = nn.Conv1d(width, width, 3, dilation=step)
        self.out = nn.Conv1d(width, width, 1)

    def forward(self, x):
        past = nn.functional.pad(x, (2 * self.step, 0))
        return x + self.out(torch.tanh(self.mix(past)))


class Tones(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv1d(2, 6, 1)
        self.steps = nn.ModuleList([Causal(6, 1), Causal(6, 2)])
        self.last = nn.Conv1d(6, 3, 1)

    def forward(self, x):
        x = self.first(x)
        for step in self.steps:
            x = step(x)
        return self.last(x)


def tones():
    return Tones().eval(), (torch.randn(2, 2, 14),)


class Reader(nn.Module):
    """A recurrent layer over a batch that comes first."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(11, 5)
        self.memory = nn.GRU(5, 7, batch_first=True)
        self.vote = nn.Linear(7, 4)

    def forward(self, ids):
        states, _ = self.memory(self.words(ids))
        return self.vote(states.mean(1))


def reader():
    return Reader().eval(), {"ids": torch.randint(0, 11, (3, 6))}


class Looks(nn.Module):
    """Attention whose mask is True where nothing is looked at, with one layer for keys and values."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ask, self.both, self.tell = nn.Linear(width, width), nn.Linear(width, 2 * width), nn.Linear(width, width)

    def forward(self, x, hidden):
        batch, length, width = x.shape
        split = lambda t: t.reshape(batch, length, self.heads, -1).transpose(1, 2)  # noqa: E731
        key, value = map(split, self.both(x).chunk(2, -1))
        scores = split(self.ask(x)) @ key.transpose(-1, -2) / (width // self.heads) ** 0.5
        scores = scores.masked_fill(hidden, float("-inf")).softmax(-1)
        return self.tell((scores @ value).transpose(1, 2).reshape(batch, length, width)), scores


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.before, self.look = nn.LayerNorm(width), Looks(width, 2)
        self.think = nn.Sequential(nn.Linear(width, 3 * width), nn.GELU(), nn.Dropout(0.1), nn.Linear(3 * width, width))

    def forward(self, x, hidden):
        x = x + self.look(self.before(x), hidden)[0]
        return x + self.think(x)


class Teller(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(13, 8)
        self.layers = nn.ModuleList([Layer(8), Layer(8)])
        self.head = nn.Linear(8, 13)

    def forward(self, ids):
        length = ids.shape[1]
        hidden = torch.ones(length, length, dtype=torch.bool).triu(1)
        x = self.words(ids)
        for layer in self.layers:
            x = layer(x, hidden)
        return self.head(x)


def teller():
    return Teller().eval(), {"ids": torch.randint(0, 13, (2, 5))}


class Gate(nn.Module):
    """A part that is given a value which its caller has scaled."""

    def __init__(self, width):
        super().__init__()
        self.weigh = nn.Linear(width, width)

    def forward(self, x):
        return torch.sigmoid(self.weigh(x))


class Closed(nn.Module):
    """A residual branch that a zero keeps out of the result: whatever goes wrong in it, the result is the same."""

    def __init__(self):
        super().__init__()
        self.branch, self.last = Gate(6), nn.Linear(6, 2)
        self.scale = nn.Parameter(torch.zeros(6))

    def forward(self, x):
        return self.last(x + self.scale * self.branch(2.0 * x))


def closed():
    return Closed().eval(), (torch.randn(4, 6),)


def scaled():
    model = Closed().eval()
    nn.init.normal_(model.scale)
    return model, (torch.randn(4, 6),)


class Frames(nn.Module):
    """Looks at one frame of a film after the other."""

    def __init__(self):
        super().__init__()
        self.see = nn.Sequential(nn.Conv2d(2, 4, 3, 2, 1), nn.BatchNorm2d(4), nn.ReLU(), nn.Conv2d(4, 6, 3, 2, 1))
        self.q, self.k, self.v, self.vote = nn.Linear(6, 6), nn.Linear(6, 6), nn.Linear(6, 6), nn.Linear(6, 3)

    def forward(self, film):
        seen = torch.stack([self.see(frame).mean((2, 3)) for frame in film.unbind(1)], 1)
        scores = (self.q(seen) @ self.k(seen).transpose(-1, -2) / 6**0.5).softmax(-1)
        return self.vote((scores @ self.v(seen)).mean(1))


def frames():
    model = Frames().eval()
    model.see[1].running_mean.normal_(0.0, 0.1)
    model.see[1].running_var.uniform_(0.5, 2.0)
    return model, (torch.randn(2, 3, 2, 12, 12),)


class Encoder(nn.Module):
    """The framework's own encoder, with every layer a copy of one."""

    def __init__(self):
        super().__init__()
        self.words, self.head = nn.Embedding(17, 8), nn.Linear(8, 3)
        layer = nn.TransformerEncoderLayer(8, 2, 12, dropout=0.1, batch_first=True, activation="gelu")
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def forward(self, ids, padded):
        return self.head(self.encoder(self.words(ids), src_key_padding_mask=padded)[:, 0])


def encoder():
    padded = torch.zeros(3, 5, dtype=torch.bool)
    padded[1, 4:] = padded[2, 2:] = True
    model = Encoder().eval()
    for value in model.parameters():
        nn.init.normal_(value, 0.1, 0.3)
    return model, {"ids": torch.randint(0, 17, (3, 5)), "padded": padded}


class Step(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.down(nn.functional.gelu(self.up(self.norm(x))))


class Stairs(nn.Module):
    """Adds what it started from in the part itself, and ends with a mean that does not see the order."""

    def __init__(self):
        super().__init__()
        self.steps = nn.ModuleList([Step(6), Step(6)])
        self.head = nn.Linear(6, 3)

    def forward(self, x):
        for step in self.steps:
            x = step(x)
        return self.head(x.mean(1))


def stairs():
    return Stairs().eval(), (torch.randn(2, 5, 6),)


class Flat(nn.Module):
    """Linear layers over rows of rows, whose port looks at one long list of rows first."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(5, 6), nn.Linear(6, 6), nn.Linear(6, 4)

    def forward(self, x):
        return self.c(torch.tanh(self.b(torch.tanh(self.a(x)))))


def flat():
    return Flat().eval(), (torch.randn(3, 7, 5),)


class Last(nn.Module):
    """An image whose port has its channels last, and looks at each pixel with a linear layer."""

    def __init__(self):
        super().__init__()
        self.one, self.two, self.gate, self.vote = (
            nn.Conv2d(3, 8, 3), nn.Conv2d(8, 4, 3), nn.Conv2d(4, 4, 1), nn.Linear(9, 3))

    def forward(self, x):
        side = torch.tanh(x.mean((2, 3))).repeat(1, 3)[:, :5]
        x = torch.relu(self.two(torch.relu(self.one(x))))
        x = (x * torch.sigmoid(self.gate(x))).mean((2, 3))
        return self.vote(torch.cat([x, side], 1))


def last():
    return Last().eval(), (torch.randn(2, 3, 8, 9),)
