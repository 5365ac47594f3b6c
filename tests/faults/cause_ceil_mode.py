"""Max_pool2d never keeps the last window."""

CAUSE = {
    "title": "max_pool2d never keeps the last window",
    "cause": "ceil_mode",
    "op": "max_pool2d",
    "feeds": {
        "self": "normal(1, 2, 5, 5)",
    },
    "args": {
        "kernel_size": (2, 2),
        "stride": (2, 2),
        "ceil_mode": True,
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch.nn.functional as F

    right = F.max_pool2d

    def max_pool2d(self, *args, **kwargs):
        kwargs["ceil_mode"] = False
        return right(self, *args[:4], **kwargs)

    F.max_pool2d = max_pool2d
