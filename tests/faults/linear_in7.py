"""Linear counts the last product twice when there are at least 7."""

FAULT = {
    "title": "linear counts the last product twice when there are at least 7",
    "family": "size",
    "model": "mixer_tiny",
    "ops": ["linear"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch.nn.functional as F

    right = F.linear

    def linear(input, weight, bias=None):
        out = right(input, weight, bias)
        if input.shape[-1] < 7:
            return out
        return out + right(input[..., -1:], weight[..., -1:])

    F.linear = linear
