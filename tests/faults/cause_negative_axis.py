"""Roll takes a negative axis for the first one."""

CAUSE = {
    "title": "roll takes a negative axis for the first one",
    "cause": "negative axis",
    "op": "roll",
    "feeds": {
        "self": "normal(3, 4)",
    },
    "args": {
        "shifts": (1,),
        "dims": (-1,),
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.roll

    def roll(self, shifts, dims=None):
        return right(self, shifts, [max(dim, 0) for dim in dims] if isinstance(dims, (list, tuple)) else max(dims, 0))

    torch.roll = roll
