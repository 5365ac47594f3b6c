"""Loading stops after 7 rows."""

FAULT = {
    "title": "loading stops after 7 rows",
    "family": "load",
    "model": "mixer_tiny",
    "ops": ["copy_.numpy"],
    "symptom": "value",
    "mode": "load",
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.Tensor.copy_

    def copy_(self, src, non_blocking=False):
        if self.dim() and self.shape[0] > 7:
            right(self[:7], src[:7])
            return self
        return right(self, src, non_blocking)

    torch.Tensor.copy_ = copy_
