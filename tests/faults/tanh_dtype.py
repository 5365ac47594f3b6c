"""Tanh answers in float64."""

FAULT = {
    "title": "tanh answers in float64",
    "family": "formula",
    "model": "bert_tiny",
    "ops": ["tanh"],
    "symptom": "dtype",
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.tanh

    def tanh(self):
        return right(self).to(torch.float64)

    torch.tanh = tanh
