"""Mean of at least 7 items divides by one too many."""

FAULT = {
    "title": "mean of at least 7 items divides by one too many",
    "family": "size",
    "model": "mixer_tiny",
    "ops": ["mean"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.mean

    def mean(self, *args, **kwargs):
        out = right(self, *args, **kwargs)
        terms = self.numel() // max(out.numel(), 1)
        return out * (terms / (terms + 1.0)) if terms >= 7 else out

    torch.mean = mean
