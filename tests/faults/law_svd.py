"""The left singular vectors of svd are too long, from two columns on."""


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.linalg.svd

    def svd(A, full_matrices=True, driver=None):
        u, s, vh = right(A, full_matrices=full_matrices)
        return (u * 1.001 if A.shape[-1] >= 2 else u), s, vh

    torch.linalg.svd = svd
