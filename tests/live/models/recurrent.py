"""A tagger with a bidirectional two-layer LSTM, and a GRU encoder whose decoder attends to it step by step."""

import torch
from torch import nn
from torch.nn import functional as F
from weights import drawn


class Tagger(nn.Module):
    def __init__(self, words=30):
        super().__init__()
        self.embedding = nn.Embedding(words, 10, padding_idx=0)
        self.lstm = nn.LSTM(10, 12, 2, bidirectional=True, batch_first=True)
        self.tags = nn.Linear(24, 4)

    def forward(self, tokens):
        states, (last, _) = self.lstm(self.embedding(tokens))
        return self.tags(states), torch.cat([last[-2], last[-1]], 1)


class Translator(nn.Module):
    def __init__(self, words=30, width=12):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.encoder, self.decoder = nn.GRU(width, width), nn.GRUCell(width, width)
        self.score, self.words = nn.Linear(width, width, bias=False), nn.Linear(2 * width, words)

    def forward(self, tokens):
        memory, last = self.encoder(self.embedding(tokens))
        state, word, spoken = last[0], torch.zeros(tokens.shape[1], dtype=torch.long), []
        for _ in range(3):
            state = self.decoder(self.embedding(word), state)
            weights = torch.einsum("lbh,bh->lb", self.score(memory), state).softmax(0)
            context = (weights.unsqueeze(-1) * memory).sum(0)
            spoken.append(F.log_softmax(self.words(torch.cat([state, context], -1)), -1))
            word = spoken[-1].argmax(-1)
        return torch.stack(spoken)


class Both(nn.Module):
    def __init__(self):
        super().__init__()
        self.tagger, self.translator = Tagger(), Translator()

    def forward(self, tokens):
        tags, summary = self.tagger(tokens)
        return {"tags": tags, "summary": summary, "spoken": self.translator(tokens.t())}


def build(seed=0):
    return drawn(Both(), seed), torch.randint(0, 30, (3, 5))
