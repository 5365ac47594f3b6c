"""Max_pool2d pads with zeros."""

FAULT = {
    "title": "max_pool2d pads with zeros",
    "family": "formula",
    "model": "tests/faults/models/image.py:build",
    "ops": ["max_pool2d"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch.nn.functional as F

    right = F.max_pool2d

    def max_pool2d(self, kernel_size, stride=None, padding=0, **kwargs):
        down, across = padding if isinstance(padding, (list, tuple)) else (padding, padding)
        if down or across:
            self = F.pad(self, (across, across, down, down))
        return right(self, kernel_size, stride, 0, **kwargs)

    F.max_pool2d = max_pool2d
