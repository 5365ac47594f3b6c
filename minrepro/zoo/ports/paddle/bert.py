"""BERT on Paddle, as somebody would port it by hand: with the names of Paddle's own transformer layers.

The encoder is nested in another way than the reference: what are `attention.self`, `attention.output`, `intermediate`
and `output` there are `self_attn`, two linear layers and two norms here.
"""

import re

import paddle
import paddle.nn.functional as F
from paddle import nn


class Embeddings(nn.Layer):
    """Word, position and segment embeddings, normalised."""

    def __init__(self, vocabulary, positions, width):
        super().__init__()
        self.word_embeddings = nn.Embedding(vocabulary, width)
        self.position_embeddings = nn.Embedding(positions, width)
        self.token_type_embeddings = nn.Embedding(2, width)
        self.layer_norm = nn.LayerNorm(width, epsilon=1e-12)
        self.dropout = nn.Dropout(0.1)
        self.register_buffer("position_ids", paddle.arange(positions).unsqueeze(0), persistable=False)

    def forward(self, input_ids, token_type_ids):
        positions = self.position_ids[:, : input_ids.shape[1]]
        words = self.word_embeddings(input_ids)
        # With padding_idx=0 Paddle would return zeros; the reference returns the row and only keeps gradients from it.
        words = paddle.where((input_ids == 0).unsqueeze(-1), words.detach(), words)
        x = words + self.token_type_embeddings(token_type_ids)
        return self.dropout(self.layer_norm(x + self.position_embeddings(positions)))


class SelfAttention(nn.Layer):
    """Scores, mask, softmax, weighted sum, projection."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.q_proj = nn.Linear(width, width)
        self.k_proj = nn.Linear(width, width)
        self.v_proj = nn.Linear(width, width)
        self.out_proj = nn.Linear(width, width)
        self.dropout = nn.Dropout(0.1)

    def split(self, x):
        batch, words, width = x.shape
        return x.reshape([batch, words, self.heads, width // self.heads]).transpose([0, 2, 1, 3])

    def forward(self, x, mask):
        q, k, v = self.split(self.q_proj(x)), self.split(self.k_proj(x)), self.split(self.v_proj(x))
        scores = paddle.matmul(q, k, transpose_y=True) / q.shape[-1] ** 0.5 + mask
        weights = self.dropout(F.softmax(scores, axis=-1))
        return self.out_proj(paddle.matmul(weights, v).transpose([0, 2, 1, 3]).reshape(x.shape))


class EncoderLayer(nn.Layer):
    """Attention, then two linear layers with a GELU; after each dropout, residual and norm."""

    def __init__(self, width, heads, hidden):
        super().__init__()
        self.self_attn = SelfAttention(width, heads)
        self.norm1 = nn.LayerNorm(width, epsilon=1e-12)
        self.linear1 = nn.Linear(width, hidden)
        self.linear2 = nn.Linear(hidden, width)
        self.norm2 = nn.LayerNorm(width, epsilon=1e-12)
        self.dropout1 = nn.Dropout(0.1)
        self.dropout2 = nn.Dropout(0.1)

    def forward(self, x, mask):
        x = self.norm1(self.dropout1(self.self_attn(x, mask)) + x)
        return self.norm2(self.dropout2(self.linear2(F.gelu(self.linear1(x)))) + x)


class Encoder(nn.Layer):
    """The layers one after the other."""

    def __init__(self, layers, width, heads, hidden):
        super().__init__()
        self.layers = nn.LayerList([EncoderLayer(width, heads, hidden) for _ in range(layers)])

    def forward(self, x, mask):
        for layer in self.layers:
            x = layer(x, mask)
        return x


class Pooler(nn.Layer):
    """Hyperbolic tangent of a projection of the first token."""

    def __init__(self, width):
        super().__init__()
        self.dense = nn.Linear(width, width)

    def forward(self, x):
        return paddle.tanh(self.dense(x[:, 0]))


class Bert(nn.Layer):
    """The network; returns a dict as its users expect."""

    def __init__(self, vocabulary, positions, layers, width, heads, hidden):
        super().__init__()
        self.embeddings = Embeddings(vocabulary, positions, width)
        self.encoder = Encoder(layers, width, heads, hidden)
        self.pooler = Pooler(width)

    def forward(self, input_ids, attention_mask=None, token_type_ids=None):
        if attention_mask is None:
            attention_mask = paddle.ones_like(input_ids)
        if token_type_ids is None:
            token_type_ids = paddle.zeros_like(input_ids)
        x = self.embeddings(input_ids, token_type_ids)
        mask = (1.0 - attention_mask.unsqueeze([1, 2]).astype(x.dtype)) * paddle.finfo(x.dtype).min
        x = self.encoder(x, mask)
        return {"last_hidden_state": x, "pooler_output": self.pooler(x)}


def bert_tiny():
    """Two layers, three heads, width 18."""
    model = Bert(vocabulary=50, positions=11, layers=2, width=18, heads=3, hidden=40)
    model.eval()
    return model


ZOO = {"bert_tiny": bert_tiny}

MAP = {
    "embeddings.LayerNorm": "embeddings.layer_norm",
    "encoder.layer": "encoder.layers",
    "encoder.layer.*": "encoder.layers.*",
    "encoder.layer.*.attention.self.query": "encoder.layers.*.self_attn.q_proj",
    "encoder.layer.*.attention.self.key": "encoder.layers.*.self_attn.k_proj",
    "encoder.layer.*.attention.self.value": "encoder.layers.*.self_attn.v_proj",
    "encoder.layer.*.attention.output.dense": "encoder.layers.*.self_attn.out_proj",
    "encoder.layer.*.attention.output.LayerNorm": "encoder.layers.*.norm1",
    "encoder.layer.*.intermediate.dense": "encoder.layers.*.linear1",
    "encoder.layer.*.output.dense": "encoder.layers.*.linear2",
    "encoder.layer.*.output.LayerNorm": "encoder.layers.*.norm2",
}

LINEAR = ("_proj.weight", "linear1.weight", "linear2.weight", "dense.weight")


def convert(state):
    """State of the reference as state of this network: other names, and weights of linear layers as (in, out)."""
    converted = {}
    for key, value in state.items():
        path, _, entry = key.rpartition(".")
        name = "{}.{}".format(renamed(path), entry)
        converted[name] = value.T if name.endswith(LINEAR) else value
    return converted


def renamed(path):
    """The path of a module in this network, given its path in the reference."""
    number = re.search(r"\.(\d+)\.", path)
    pattern = path if number is None else path.replace(number.group(), ".*.")
    return MAP.get(pattern, pattern).replace("*", number.group(1) if number else "*")
