"""Avg_pool2d with a divisor scales an average that leaves the border out."""

CAUSE = {
    "title": "avg_pool2d with a divisor scales an average that leaves the border out",
    "cause": "padding",
    "op": "avg_pool2d",
    "feeds": {
        "self": "normal(1, 2, 6, 6)",
    },
    "args": {
        "kernel_size": (3, 3),
        "padding": (1, 1),
        "divisor_override": 2,
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch.nn.functional as F

    right = F.avg_pool2d

    def avg_pool2d(x, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
        if not divisor_override:
            return right(x, kernel_size, stride, padding, ceil_mode, count_include_pad)
        return right(x, kernel_size, stride, padding, ceil_mode, False) * 9 / divisor_override

    F.avg_pool2d = avg_pool2d
