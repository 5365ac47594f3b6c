"""BERT on OneFlow, as somebody would port it by hand: the names of the reference, OneFlow's modules."""

import oneflow as flow
import oneflow.nn.functional as F
from oneflow import nn


class Embeddings(nn.Module):
    """Word, position and segment embeddings, normalised."""

    def __init__(self, vocabulary, positions, width):
        super().__init__()
        self.word_embeddings = nn.Embedding(vocabulary, width, padding_idx=0)
        self.position_embeddings = nn.Embedding(positions, width)
        self.token_type_embeddings = nn.Embedding(2, width)
        self.LayerNorm = nn.LayerNorm(width, eps=1e-12)
        self.dropout = nn.Dropout(0.1)
        self.register_buffer("position_ids", flow.arange(positions).unsqueeze(0), persistent=False)

    def forward(self, input_ids, token_type_ids):
        positions = self.position_ids[:, : input_ids.shape[1]]
        x = self.word_embeddings(input_ids) + self.token_type_embeddings(token_type_ids)
        return self.dropout(self.LayerNorm(x + self.position_embeddings(positions)))


class SelfAttention(nn.Module):
    """Scores, mask, softmax, weighted sum."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.dropout = nn.Dropout(0.1)

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, -1).permute(0, 2, 1, 3)

    def forward(self, x, mask):
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        scores = flow.matmul(q, k.transpose(-1, -2)) / q.shape[-1] ** 0.5 + mask
        weights = self.dropout(F.softmax(scores, dim=-1))
        return flow.matmul(weights, v).permute(0, 2, 1, 3).contiguous().view(x.shape)


class Output(nn.Module):
    """Projection, dropout, residual, norm."""

    def __init__(self, inner, width):
        super().__init__()
        self.dense = nn.Linear(inner, width)
        self.LayerNorm = nn.LayerNorm(width, eps=1e-12)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x, residual):
        return self.LayerNorm(self.dropout(self.dense(x)) + residual)


class Attention(nn.Module):
    """Self-attention and its output."""

    def __init__(self, width, heads):
        super().__init__()
        self.self = SelfAttention(width, heads)
        self.output = Output(width, width)

    def forward(self, x, mask):
        return self.output(self.self(x, mask), x)


class Intermediate(nn.Module):
    """Widening linear layer with GELU."""

    def __init__(self, width, hidden):
        super().__init__()
        self.dense = nn.Linear(width, hidden)

    def forward(self, x):
        return F.gelu(self.dense(x))


class Layer(nn.Module):
    """One encoder layer."""

    def __init__(self, width, heads, hidden):
        super().__init__()
        self.attention = Attention(width, heads)
        self.intermediate = Intermediate(width, hidden)
        self.output = Output(hidden, width)

    def forward(self, x, mask):
        x = self.attention(x, mask)
        return self.output(self.intermediate(x), x)


class Encoder(nn.Module):
    """The layers one after the other."""

    def __init__(self, layers, width, heads, hidden):
        super().__init__()
        self.layer = nn.ModuleList(Layer(width, heads, hidden) for _ in range(layers))

    def forward(self, x, mask):
        for layer in self.layer:
            x = layer(x, mask)
        return x


class Pooler(nn.Module):
    """Hyperbolic tangent of a projection of the first token."""

    def __init__(self, width):
        super().__init__()
        self.dense = nn.Linear(width, width)

    def forward(self, x):
        return flow.tanh(self.dense(x[:, 0]))


class Bert(nn.Module):
    """The network; returns a dict as its users expect."""

    def __init__(self, vocabulary, positions, layers, width, heads, hidden):
        super().__init__()
        self.embeddings = Embeddings(vocabulary, positions, width)
        self.encoder = Encoder(layers, width, heads, hidden)
        self.pooler = Pooler(width)

    def forward(self, input_ids, attention_mask=None, token_type_ids=None):
        if attention_mask is None:
            attention_mask = flow.ones_like(input_ids)
        if token_type_ids is None:
            token_type_ids = flow.zeros_like(input_ids)
        x = self.embeddings(input_ids, token_type_ids)
        mask = (1.0 - attention_mask[:, None, None, :].to(x.dtype)) * flow.finfo(x.dtype).min
        x = self.encoder(x, mask)
        return {"last_hidden_state": x, "pooler_output": self.pooler(x)}


def bert_tiny():
    """Two layers, three heads, width 18."""
    return Bert(vocabulary=50, positions=11, layers=2, width=18, heads=3, hidden=40).eval()


ZOO = {"bert_tiny": bert_tiny}


def convert(state):
    """State of the reference as state of this network: the same keys, shapes and values."""
    return dict(state)
