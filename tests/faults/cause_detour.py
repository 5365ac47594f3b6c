"""The maximum of integers goes through float32."""

CAUSE = {
    "title": "the maximum of integers goes through float32",
    "cause": "dtype promotion",
    "op": "maximum",
    "feeds": {
        "self": "values([16777217, 5, -33554433], 'int64')",
        "other": "values([1, 9, -33554435], 'int64')",
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.maximum

    def maximum(self, other):
        return right(self, other) if self.is_floating_point() else right(self.float(), other.float()).to(self.dtype)

    torch.maximum = maximum
