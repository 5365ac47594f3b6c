"""Bilinear resizing aligns the corners always."""

CAUSE = {
    "title": "bilinear resizing aligns the corners always",
    "cause": "align_corners",
    "op": "upsample_bilinear2d.vec",
    "feeds": {
        "input": "normal(1, 2, 4, 4)",
    },
    "args": {
        "output_size": (7, 7),
        "scale_factors": None,
        "align_corners": False,
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch.nn.functional as F

    right = F.interpolate

    def interpolate(*args, **kwargs):
        kwargs["align_corners"] = True
        return right(*args, **kwargs)

    F.interpolate = interpolate
