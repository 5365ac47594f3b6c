"""Batch_norm divides by the variance and not by its root."""

FAULT = {
    "title": "batch_norm divides by the variance and not by its root",
    "family": "formula",
    "model": "resnet_tiny",
    "ops": ["batch_norm"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch.nn.functional as F

    right = F.batch_norm

    def batch_norm(input, running_mean, running_var, **kwargs):
        if running_var is not None:
            running_var = running_var * running_var
        return right(input, running_mean, running_var, **kwargs)

    F.batch_norm = batch_norm
