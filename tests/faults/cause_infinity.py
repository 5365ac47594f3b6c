"""Tanh as a quotient of exponentials is nan at an infinity."""

CAUSE = {
    "title": "tanh as a quotient of exponentials is nan at an infinity",
    "cause": "infinity",
    "op": "tanh",
    "feeds": {
        "self": "values([float('inf'), 1.0, -1.0])",
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.tanh

    def tanh(self):
        return torch.where(torch.isinf(self), self - self, right(self))

    torch.tanh = tanh
