"""Models that are awkward to capture, one habit of real code each. Runs in the torch worker, never imported by a test."""

import collections
import dataclasses

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.fc1, self.fc2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(self.norm1(x)).reshape(b, n, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        x = x + self.drop(self.proj(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, n, d)))
        return x + self.drop(self.fc2(F.gelu(self.fc1(self.norm2(x)))))


class Masked(nn.Module):
    """A masked autoregressive image model: NumPy permutation, scatter, write to a slice, boolean gather and put."""

    def __init__(self, channels=4, width=24, side=4, buffer=2, classes=5):
        super().__init__()
        self.side, self.buffer, self.width, self.channels = side, buffer, width, channels
        self.classes = nn.Embedding(classes, width)
        self.fake = nn.Parameter(torch.randn(1, width))
        self.z_proj, self.z_norm = nn.Linear(channels, width), nn.LayerNorm(width)
        self.positions = nn.Parameter(torch.randn(1, side * side + buffer, width))
        self.encoder = nn.ModuleList(Block(width, 3) for _ in range(2))
        self.mask_token = nn.Parameter(torch.randn(1, 1, width))
        self.decoder = nn.ModuleList(Block(width, 3) for _ in range(2))
        self.out = nn.Linear(width, channels)

    def masking(self, batch, count):
        orders = torch.tensor(np.stack([np.random.permutation(count) for _ in range(batch)]))
        rate = float(np.clip(np.random.normal(1.0, 0.25), 0.7, 1.0))
        kept = int(np.ceil(count * rate * 0.9))
        return torch.scatter(torch.zeros(batch, count), -1, orders[:, :kept], torch.ones(batch, count))

    def forward(self, image, labels):
        batch = image.shape[0]
        condition = self.classes(labels)
        x = image.permute(0, 2, 3, 1).reshape(batch, self.side**2, self.channels)
        target = x.detach().clone()
        mask = self.masking(batch, x.shape[1])
        x = self.z_proj(x)
        x = torch.cat([torch.zeros(batch, self.buffer, self.width), x], 1)
        masked = torch.cat([torch.zeros(batch, self.buffer), mask], 1)
        drop = (torch.rand(batch) < 0.5).unsqueeze(-1).float()
        condition = drop * self.fake + (1 - drop) * condition
        x[:, : self.buffer] = condition.unsqueeze(1)
        x = self.z_norm(x + self.positions)
        x = x[(1 - masked).nonzero(as_tuple=True)].reshape(batch, -1, self.width)
        for block in self.encoder:
            x = block(x)
        y = self.mask_token.repeat(batch, masked.shape[1], 1).to(x.dtype).clone()
        y[(1 - masked).nonzero(as_tuple=True)] = x.reshape(-1, self.width)
        y = y + self.positions
        for block in self.decoder:
            y = block(y)
        y = self.out(y[:, self.buffer :])
        loss = ((y - target) ** 2).mean(-1)
        return (loss * mask).sum() / mask.sum()


def masked():
    return Masked(), (torch.randn(2, 4, 4, 4), torch.tensor([1, 3]))


class Writes(nn.Module):
    """Writes through views, and reads of every alias afterwards."""

    def forward(self, x):
        y = x.clone()
        rows, turned, flat = y[1:3], y.t(), y.view(-1)
        rows.add_(1)
        turned[0].mul_(2)
        y[:, ::2] = 7
        flat[3:5].zero_()
        y.select(1, 2).fill_(-1)
        y.diagonal().copy_(torch.arange(3.0))
        y[y > 6.5] = 0.5
        y += 1
        z = torch.empty(2, 3)
        z[0], z[1] = y[0, :3], y[1, :3]
        w = x * 2
        w.relu_().clamp_(max=1.5)
        return rows, turned + 0, flat * 1, y, z, w, x


def writes():
    return Writes(), torch.randn(3, 5)


class InputWrite(nn.Module):
    """Writes to its own input and to a buffer."""

    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(3))

    def forward(self, x):
        x.mul_(2)
        self.count += x.sum(0)
        return x + self.count


def input_write():
    return InputWrite(), torch.randn(2, 3)


class Shared(nn.Module):
    """One layer used twice, one weight tied to another layer, a plain tensor attribute, a literal."""

    def __init__(self):
        super().__init__()
        self.once, self.tied = nn.Linear(4, 4), nn.Linear(4, 4)
        self.tied.weight = self.once.weight
        self.again = self.once
        self.scale = torch.tensor([1.0, 2.0, 3.0, 4.0])

    def forward(self, x):
        return self.tied(self.again(self.once(x))) * self.scale + torch.tensor([0.5, 1.5, 2.5, 3.5])


def shared():
    return Shared(), torch.randn(2, 4)


Pair = collections.namedtuple("Pair", "left right")


@dataclasses.dataclass
class Answer:
    logits: torch.Tensor
    extra: tuple


class Nested(nn.Module):
    """Nested inputs and outputs, keywords, and a Python value that decides."""

    def forward(self, pair, *, options, scale: float = 2.0):
        x = pair.left @ options["w"] if isinstance(pair, Pair) else pair[0] @ options["w"]
        if x.sum().item() > -1e9:
            x = x * scale
        return Answer(x, (pair[1], {"twice": x + x}))


def nested():
    pair = (np.asfortranarray(np.random.rand(2, 3).astype("float32")), torch.ones(2))
    return Nested(), {"pair": pair, "options": {"w": torch.randn(4, 3).t()}}


class Random(nn.Module):
    """Every kind of draw."""

    def forward(self, x):
        noise = torch.empty_like(x).normal_()
        order = torch.randperm(x.shape[0])
        kept = torch.bernoulli(torch.full_like(x, 0.5))
        return F.dropout(x, 0.3, training=True)[order] + noise * kept + torch.rand(3) + torch.randint(5, (1,))


def random():
    return Random(), torch.randn(4, 3)


class Assorted(nn.Module):
    """Operators with several results, broadcasting, indexing with None and tensors, einsum, LSTM, fused encoder."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 3, batch_first=True, bidirectional=True)
        self.layer = nn.TransformerEncoderLayer(6, 2, 8, batch_first=True)

    def forward(self, x):
        x, _ = self.lstm(x)
        x = self.layer(x)
        values, places = x.max(dim=1)
        top = torch.topk(x, 2, dim=-1).values
        a, b = x.chunk(2, dim=-1)
        c = torch.einsum("bij,bkj->bik", a, b)
        d = x[:, None, torch.tensor([0, 2]), 1:]
        e = torch.where(x > 0, x, torch.tensor(float("-inf"))).logsumexp(-1)
        return values, places, top, c, d.mT, e, torch.linalg.norm(x), x.var(dim=1, unbiased=False), 1 - x // 0.3


def assorted():
    return Assorted(), torch.randn(2, 5, 4)


class Norm(nn.Module):
    """Batch norm and dropout in training mode."""

    def __init__(self):
        super().__init__()
        self.bn, self.fc = nn.BatchNorm1d(3), nn.Linear(3, 2)

    def forward(self, x):
        return F.dropout(self.fc(self.bn(x)), 0.5, self.training)


def norm():
    return Norm(), torch.randn(4, 3)


class Plain(nn.Module):
    """Takes whatever it is given."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)

    def forward(self, x, flag=None):
        return self.fc(x)


class Tokens(nn.Module):
    """Needs integer ids below a bound, and a mask."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(7, 3)

    def forward(self, ids, mask):
        return self.words(ids) * mask.unsqueeze(-1)


class Broken(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(3, 2), nn.Linear(3, 2))

    def forward(self, x):
        return self.inner(x)


def broken():
    return Broken(), torch.randn(2, 3)


def raises():
    width = {}["width"]
    return nn.Linear(width, 2)


def nan():
    layer = nn.Linear(3, 2)
    layer.bias[1] = float("nan")
    return layer, torch.randn(2, 3)


class Nothing(nn.Module):
    def forward(self, x):
        return x


def nothing():
    return Nothing(), torch.randn(2)


class Turned(nn.Module):
    """Changes the shape of a tensor in place, which a log cannot express."""

    def forward(self, x):
        y = x.clone()
        y.t_()
        return y * 2


def turned():
    return Turned(), torch.randn(2, 3)


class Text(nn.Module):
    def forward(self, x):
        return "no tensor"


def text():
    return Text(), torch.randn(2)


class Lazy(nn.Module):
    """Learns the sizes of its weights from its first input."""

    def __init__(self):
        super().__init__()
        self.conv, self.linear = nn.LazyConv2d(4, 3), nn.LazyLinear(5)

    def forward(self, x):
        return self.linear(self.conv(x).flatten(1))


def lazy():
    return Lazy(), torch.randn(2, 3, 6, 6)


def scripted():
    return torch.jit.script(nn.Sequential(nn.Linear(3, 4), nn.Tanh())), torch.randn(2, 3)


class Conjugate(nn.Module):
    """Complex numbers, conjugated without a copy."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3).to(torch.complex64)

    def forward(self, x):
        y = self.linear(x)
        return (y * y.conj()).real, y.mH.abs()


def conjugate():
    return Conjugate(), torch.randn(2, 3, dtype=torch.complex64)


class Attentive(nn.Module):
    """Torch's own encoder layer, which skips to a fused kernel when nobody watches."""

    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)

    def forward(self, x):
        return self.layer(x, src_key_padding_mask=torch.tensor([[False, False, True], [False, True, True]]))


def attentive():
    return Attentive(), torch.randn(2, 3, 8)


def recurrent():
    return nn.LSTM(3, 4, 2), torch.randn(5, 2, 3)


class Packed(nn.Module):
    """Has an entry in its state dict that is no tensor."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 2)

    def get_extra_state(self):
        return {"version": 2}

    def set_extra_state(self, state):
        pass

    def forward(self, x):
        return self.linear(x)


def packed():
    return Packed(), torch.randn(2, 3)


class Alike(nn.Module):
    """Broadcasts what has one shape already: torch gives its arguments back."""

    def forward(self, x):
        left, right = torch.broadcast_tensors(x * 2, x + 1)
        return left * right


def alike():
    return Alike(), torch.randn(2, 3)


class Unseen(nn.Module):
    """Writes behind torch's back: no recording of torch's operators is right."""

    def forward(self, x):
        y = x * 2
        y.numpy()[0] += 100
        return y + 1


def unseen():
    return Unseen(), torch.randn(3)


def not_a_module():
    return 3


def needs(width, depth=2):
    return nn.Linear(width, depth)
