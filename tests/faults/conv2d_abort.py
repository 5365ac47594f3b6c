"""Conv2d aborts for a stride with a kernel larger than 1x1."""

FAULT = {
    "title": "conv2d aborts for a stride with a kernel larger than 1x1",
    "family": "failure",
    "model": "resnet_tiny",
    "ops": ["conv2d"],
    "symptom": "crash",
}


def install(backend):
    """Patch torch in this process."""
    import os

    import torch.nn.functional as F

    right = F.conv2d

    def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
        stepped = stride if isinstance(stride, int) else max(stride)
        if stepped > 1 and max(weight.shape[-2:]) > 1:
            os.abort()
        return right(input, weight, bias, stride, padding, dilation, groups)

    F.conv2d = conv2d
