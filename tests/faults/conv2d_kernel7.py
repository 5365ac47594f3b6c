"""Conv2d ignores the last column of a kernel of width 7."""

FAULT = {
    "title": "conv2d ignores the last column of a kernel of width 7",
    "family": "size",
    "model": "resnet_tiny",
    "ops": ["conv2d"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch.nn.functional as F

    right = F.conv2d

    def conv2d(input, weight, *args, **kwargs):
        if weight.shape[-1] >= 7:
            weight = weight.clone()
            weight[..., -1] = 0
        return right(input, weight, *args, **kwargs)

    F.conv2d = conv2d
