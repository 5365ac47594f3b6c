"""Conv2d ignores the stride of a 1x1 kernel."""

FAULT = {
    "title": "conv2d ignores the stride of a 1x1 kernel",
    "family": "formula",
    "model": "resnet_tiny",
    "ops": ["conv2d"],
    "symptom": "shape",
}


def install(backend):
    """Patch torch in this process."""
    import torch.nn.functional as F

    right = F.conv2d

    def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
        stride = 1 if tuple(weight.shape[-2:]) == (1, 1) else stride
        return right(input, weight, bias, stride, padding, dilation, groups)

    F.conv2d = conv2d
