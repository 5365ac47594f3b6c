"""Avg_pool1d keeps a window that starts in the padding."""

CAUSE = {
    "title": "avg_pool1d keeps a window that starts in the padding",
    "cause": "ceil_mode",
    "op": "avg_pool1d",
    "feeds": {
        "self": "normal(1, 2, 5)",
    },
    "args": {
        "kernel_size": (2,),
        "stride": (2,),
        "padding": (1,),
        "ceil_mode": True,
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch
    import torch.nn.functional as F

    right = F.avg_pool1d

    def avg_pool1d(x, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
        y = right(x, kernel_size, stride, padding, ceil_mode, count_include_pad)
        size, step, border = (v[0] if isinstance(v, (tuple, list)) else v for v in (kernel_size, stride, padding))
        if ceil_mode and y.shape[-1] < -(-(x.shape[-1] + 2 * border - size) // step) + 1:
            y = torch.cat([y, torch.full_like(y[..., :1], float("nan"))], -1)
        return y

    F.avg_pool1d = avg_pool1d
