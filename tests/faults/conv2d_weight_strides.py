"""Conv2d reads a permuted kernel in the order of its memory."""

FAULT = {
    "title": "conv2d reads a permuted kernel in the order of its memory",
    "family": "layout",
    "model": "mixer_tiny",
    "ops": ["conv2d"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch.nn.functional as F

    right = F.conv2d

    def conv2d(input, weight, *args, **kwargs):
        if not weight.is_contiguous():
            weight = weight.as_strided((weight.numel(),), (1,)).reshape(weight.shape)
        return right(input, weight, *args, **kwargs)

    F.conv2d = conv2d
