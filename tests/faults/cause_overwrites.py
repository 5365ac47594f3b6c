"""Tanh writes its result into its input too, and reads it again."""

CAUSE = {
    "title": "tanh writes its result into its input too, and reads it again",
    "cause": "in-place aliasing",
    "op": "tanh",
    "feeds": {
        "self": "normal(4, 5)",
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.tanh

    def tanh(self):
        self.copy_(right(self))
        return right(self)

    torch.tanh = tanh
