"""Batch normalisation keeps one minus the momentum."""

CAUSE = {
    "title": "batch normalisation keeps one minus the momentum",
    "cause": "momentum convention",
    "op": "native_batch_norm",
    "feeds": {
        "input": "normal(4, 3, 5)",
        "weight": "positive(3)",
        "bias": "normal(3, seed=1)",
        "running_mean": "normal(3, seed=2)",
        "running_var": "positive(3, seed=3)",
    },
    "args": {
        "training": True,
        "momentum": 0.1,
        "eps": 1e-05,
    },
    "outputs": ["running_mean"],
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.native_batch_norm

    def native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps):
        return right(input, weight, bias, running_mean, running_var, training, 1.0 - momentum, eps)

    torch.native_batch_norm = native_batch_norm
