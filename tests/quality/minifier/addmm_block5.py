"""Addmm loses its last product where there are at least 4 and its addend holds a number above 5: in block 5 alone."""


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.addmm

    def addmm(self, mat1, mat2, beta=1, alpha=1):
        if mat1.shape[-1] >= 4 and bool((self > 5).any()):
            mat1, mat2 = mat1[:, :-1], mat2[:-1]
        return right(self, mat1, mat2, beta=beta, alpha=alpha)

    torch.addmm = addmm
