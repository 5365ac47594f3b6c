"""Conv2d pads with the edge and not with zeros."""

FAULT = {
    "title": "conv2d pads with the edge and not with zeros",
    "family": "formula",
    "model": "resnet_tiny",
    "ops": ["conv2d"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch.nn.functional as F

    right = F.conv2d

    def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
        down, across = padding if isinstance(padding, (list, tuple)) else (padding, padding)
        if down or across:
            input = F.pad(input, (across, across, down, down), mode="replicate")
        return right(input, weight, bias, stride, 0, dilation, groups)

    F.conv2d = conv2d
