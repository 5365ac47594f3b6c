"""Ports of interfaces.py to Paddle: right ones that are told other things inside, and the same with a mistake in them."""

import numpy as np
import paddle
from paddle import nn


class Causal(nn.Layer):
    """Pads in the convolution itself."""

    def __init__(self, width, step, late=False):
        super().__init__()
        padding = [0, 2 * step] if late else [2 * step, 0]
        self.conv = nn.Conv1D(width, width, 3, dilation=step, padding=padding)
        self.project = nn.Conv1D(width, width, 1)

    def forward(self, x):
        return self.project(paddle.tanh(self.conv(x))) + x


class Tones(nn.Layer):
    def __init__(self, late=False):
        super().__init__()
        self.stem = nn.Conv1D(2, 6, 1)
        self.stack = nn.LayerList([Causal(6, 1), Causal(6, 2, late)])
        self.top = nn.Conv1D(6, 3, 1)

    def forward(self, x):
        x = self.stem(x)
        for layer in self.stack:
            x = layer(x)
        return self.top(x)


def tones():
    return Tones()


def tones_late():
    return Tones(late=True)


def tones_convert(state):
    names = {"first": "stem", "last": "top", "steps": "stack", "mix": "conv", "out": "project"}
    return {".".join(names.get(part, part) for part in key.split(".")): value for key, value in state.items()}


class Reader(nn.Layer):
    """Reads with the time first."""

    def __init__(self, batch=1):
        super().__init__()
        self.table, self.rnn, self.out = nn.Embedding(11, 5), nn.GRU(5, 7, time_major=True), nn.Linear(7, 4)
        self.over = batch

    def forward(self, ids):
        states, _ = self.rnn(self.table(ids).transpose([1, 0, 2]))
        return self.out(states.transpose([1, 0, 2]).mean(self.over))


def reader():
    return Reader()


def reader_convert(state):
    names = {"words": "table", "memory": "rnn", "vote": "out"}
    made = {key.replace(key.split(".")[0], names[key.split(".")[0]], 1): value for key, value in state.items()}
    return {key: value.T if key == "out.weight" else value for key, value in made.items()}


class Attention(nn.Layer):
    """Its mask is True where it may look; keys and values have a layer each, and the scores stay inside."""

    def __init__(self, width, heads, wrong_axis=False):
        super().__init__()
        self.heads, self.axis = heads, 2 if wrong_axis else 3
        self.q, self.k, self.v, self.o = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x, seen):
        batch, length, width = x.shape
        split = lambda t: t.reshape([batch, length, self.heads, -1]).transpose([0, 2, 1, 3])  # noqa: E731
        scores = paddle.matmul(split(self.q(x)), split(self.k(x)), transpose_y=True) * (width // self.heads) ** -0.5
        scores = paddle.where(seen, scores, paddle.full_like(scores, float("-inf")))
        mixed = paddle.matmul(nn.functional.softmax(scores, axis=self.axis), split(self.v(x)))
        return self.o(mixed.transpose([0, 2, 1, 3]).flatten(2))


class Feed(nn.Layer):
    def __init__(self, width, rate):
        super().__init__()
        self.up, self.drop, self.down = nn.Linear(width, 3 * width), nn.Dropout(rate), nn.Linear(3 * width, width)

    def forward(self, x):
        return self.down(self.drop(nn.functional.gelu(self.up(x))))


class Block(nn.Layer):
    def __init__(self, width, wrong_axis, rate):
        super().__init__()
        self.norm, self.attention, self.feed = nn.LayerNorm(width), Attention(width, 2, wrong_axis), Feed(width, rate)

    def forward(self, x, seen):
        x = x + self.attention(self.norm(x), seen)
        return x + self.feed(x)


class Teller(nn.Layer):
    def __init__(self, wrong_axis=False, rate=0.1):
        super().__init__()
        self.table, self.out = nn.Embedding(13, 8), nn.Linear(8, 13)
        self.blocks = nn.LayerList([Block(8, wrong_axis, rate) for _ in range(2)])

    def forward(self, ids):
        length = ids.shape[1]
        seen = paddle.ones([length, length]).tril().astype("bool")
        x = self.table(ids)
        for block in self.blocks:
            x = block(x, seen)
        return self.out(x)


def teller():
    return Teller()


def teller_wrong_axis():
    return Teller(wrong_axis=True)


def teller_rate():
    return Teller(rate=0.3)


def teller_convert(state, swapped=False, turned=True):
    names = {"words": "table", "head": "out", "layers": "blocks", "before": "norm", "look": "attention", "think": "feed",
             "ask": "q", "tell": "o"}
    made = {}
    for key, value in state.items():
        path = [names.get(part, part) for part in key.split(".")]
        if "feed" in path:
            path[-2] = {"0": "up", "3": "down"}[path[-2]]
        if value.ndim == 2 and path[0] != "table" and (turned or path[-2] != "o"):
            value = value.T
        if "both" in path:
            halves = np.split(value, 2, axis=-1)
            for name, half in zip("vk" if swapped else "kv", halves):
                made[".".join([*path[:-2], name, path[-1]])] = half
        else:
            made[".".join(path)] = value
    return made


def teller_convert_swapped(state):
    return teller_convert(state, swapped=True)


def teller_convert_unturned(state):
    return teller_convert(state, turned=False)


class Gate(nn.Layer):
    """Scales what it is given by itself."""

    def __init__(self, width, factor):
        super().__init__()
        self.weigh, self.factor = nn.Linear(width, width), factor

    def forward(self, x):
        return paddle.nn.functional.sigmoid(self.weigh(self.factor * x))


class Closed(nn.Layer):
    def __init__(self, factor=2.0):
        super().__init__()
        self.branch, self.last, self.scale = Gate(6, factor), nn.Linear(6, 2), self.create_parameter([6])

    def forward(self, x):
        return self.last(x + self.scale * self.branch(x))


def closed():
    return Closed()


def closed_forgotten():
    return Closed(factor=1.0)


class Frames(nn.Layer):
    """Looks at all frames at once, and has one layer for queries, keys and values."""

    def __init__(self):
        super().__init__()
        self.conv1, self.norm, self.conv2 = nn.Conv2D(2, 4, 3, 2, 1), nn.BatchNorm2D(4), nn.Conv2D(4, 6, 3, 2, 1)
        self.qkv, self.out = nn.Linear(6, 18), nn.Linear(6, 3)

    def forward(self, film):
        batch, length = film.shape[:2]
        x = nn.functional.relu(self.norm(self.conv1(film.flatten(0, 1))))
        x = self.conv2(x).mean([2, 3]).reshape([batch, length, 6])
        q, k, v = self.qkv(x).chunk(3, axis=-1)
        scores = nn.functional.softmax(paddle.matmul(q, k, transpose_y=True) / 6**0.5, axis=-1)
        return self.out(paddle.matmul(scores, v).mean(1))


def frames():
    return Frames()


def frames_convert(state):
    names = {"see.0": "conv1", "see.1": "norm", "see.3": "conv2", "vote": "out", "running_mean": "_mean",
             "running_var": "_variance"}
    made = {}
    for key, value in state.items():
        for ours, theirs in names.items():
            key = key.replace(ours, theirs)
        made[key] = value.T if value.ndim == 2 else value
    made["qkv.weight"] = np.concatenate([made.pop(f"{name}.weight") for name in "qkv"], axis=1)
    made["qkv.bias"] = np.concatenate([made.pop(f"{name}.bias") for name in "qkv"])
    return {key: value for key, value in made.items() if not key.endswith("tracked")}


class Encoder(nn.Layer):
    def __init__(self):
        super().__init__()
        self.table, self.out = nn.Embedding(17, 8), nn.Linear(8, 3)
        self.body = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 12, dropout=0.1, activation="gelu"), 2)

    def forward(self, ids, padded):
        return self.out(self.body(self.table(ids), padded.logical_not().unsqueeze([1, 2]))[:, 0])


def encoder():
    return Encoder()


def encoder_convert(state):
    made = {}
    for key, value in state.items():
        key = key.replace("encoder.", "body.").replace("words.", "table.").replace("head.", "out.")
        value = value.T if value.ndim == 2 and not key.startswith("table") else value
        if "in_proj" in key:
            path, _, kind = key.rpartition("in_proj_")
            made |= {f"{path}{name}_proj.{kind}": part for name, part in zip("qkv", np.split(value, 3, axis=-1))}
        else:
            made[key] = value
    return made


class Step(nn.Layer):
    def __init__(self, width, turned):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.turned = turned

    def forward(self, x):
        x = self.down(nn.functional.gelu(self.up(self.norm(x))))
        return x.flip(1) if self.turned else x


class Stairs(nn.Layer):
    """Adds it outside."""

    def __init__(self, turned=False):
        super().__init__()
        self.steps, self.head = nn.LayerList([Step(6, False), Step(6, turned)]), nn.Linear(6, 3)

    def forward(self, x):
        for step in self.steps:
            x = x + step(x)
        return self.head(x.mean(1))


def stairs():
    return Stairs()


def stairs_turned():
    return Stairs(turned=True)


class Flat(nn.Layer):
    def __init__(self, wrong=False):
        super().__init__()
        self.a, self.b, self.c, self.wrong = nn.Linear(5, 6), nn.Linear(6, 6), nn.Linear(6, 4), wrong

    def forward(self, x):
        rows = paddle.tanh(self.a(x.flatten(0, 1))).reshape([*x.shape[:2], 6])
        rows = self.b(rows)
        rows = nn.functional.sigmoid(rows) if self.wrong else paddle.tanh(rows)
        return self.c(rows)


def flat():
    return Flat()


def flat_wrong():
    return Flat(wrong=True)


def flat_convert(state):
    return {key: value.T for key, value in state.items()}


class Last(nn.Layer):
    """Channels last all the way; what is put together before the last layer has a layer each."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2D(3, 8, 3, data_format="NHWC")
        self.conv2 = nn.Conv2D(8, 4, 3, data_format="NHWC")
        self.pixel, self.image, self.side = nn.Linear(4, 4), nn.Linear(4, 3), nn.Linear(5, 3, bias_attr=False)

    def forward(self, x):
        side = paddle.tanh(x.mean([2, 3])).tile([1, 3])[:, :5]
        x = x.transpose([0, 2, 3, 1])
        x = nn.functional.relu(self.conv2(nn.functional.relu(self.conv1(x))))
        x = (x * nn.functional.sigmoid(self.pixel(x))).mean([1, 2])
        return self.image(x) + self.side(side)


def last():
    return Last()


def last_convert(state):
    weight = state["vote.weight"]
    return {
        "conv1.weight": state["one.weight"], "conv1.bias": state["one.bias"], "conv2.weight": state["two.weight"],
        "conv2.bias": state["two.bias"], "pixel.weight": state["gate.weight"][:, :, 0, 0].T,
        "pixel.bias": state["gate.bias"], "image.weight": weight[:, :4].T, "side.weight": weight[:, 4:].T,
        "image.bias": state["vote.bias"],
    }
