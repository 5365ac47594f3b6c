"""Avg_pool2d leaves the padding out of the count."""

FAULT = {
    "title": "avg_pool2d leaves the padding out of the count",
    "family": "formula",
    "model": "tests/faults/models/image.py:build",
    "ops": ["avg_pool2d"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch.nn.functional as F

    right = F.avg_pool2d

    def avg_pool2d(self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, **kwargs):
        return right(self, kernel_size, stride, padding, ceil_mode, False, **kwargs)

    F.avg_pool2d = avg_pool2d
