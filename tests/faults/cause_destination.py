"""Fill_ writes the first items of the memory of a view."""

CAUSE = {
    "title": "fill_ writes the first items of the memory of a view",
    "cause": "destination strides ignored",
    "op": "fill_",
    "feeds": {
        "self": "transposed(normal(3, 4))",
    },
    "args": {
        "value": 7.0,
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.Tensor.fill_

    def fill_(self, value):
        if self.is_contiguous():
            return right(self, value)
        right(self.as_strided((self.numel() // 2,), (1,)), value)
        return self

    torch.Tensor.fill_ = fill_
