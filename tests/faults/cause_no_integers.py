"""An inverted integer is refused."""

CAUSE = {
    "title": "an inverted integer is refused",
    "cause": "refused input",
    "op": "bitwise_not",
    "feeds": {
        "self": "integers(6)",
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.bitwise_not

    def bitwise_not(self):
        if self.dtype is not torch.bool:
            raise TypeError("expected truth values")
        return right(self)

    torch.bitwise_not = torch.Tensor.bitwise_not = torch.Tensor.__invert__ = bitwise_not
