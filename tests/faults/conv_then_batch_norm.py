"""Batch_norm of what conv2d made loses a tenth."""

FAULT = {
    "title": "batch_norm of what conv2d made loses a tenth",
    "family": "together",
    "model": "resnet_tiny",
    "ops": ["conv2d", "batch_norm"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch.nn.functional as F

    right, before = F.batch_norm, F.conv2d

    def conv2d(*args, **kwargs):
        out = before(*args, **kwargs)
        out.planted = True
        return out

    def batch_norm(input, *args, **kwargs):
        out = right(input, *args, **kwargs)
        return out * 0.9 if hasattr(input, "planted") else out

    F.conv2d, F.batch_norm = conv2d, batch_norm
