"""Functions that torch writes in Python and other frameworks natively, such as ``F.normalize``.

A recording holds what they are made of, as torch runs it. Those that have a row of their own are recorded as a whole
too, beside the flow: the step is checked like any other, but nothing reads it.
"""

import inspect

import torch
from torch.overrides import TorchFunctionMode


class Functions(TorchFunctionMode):
    """Watches the calls of `torch.nn.functional` while a model runs.

    Args:
        recorder: where the calls go.
    """

    def __init__(self, recorder):
        super().__init__()
        self.recorder = recorder

    def __torch_function__(self, func, types, args=(), kwargs=None):
        name = getattr(func, "__name__", "")
        if name not in self.recorder.rows or not _written_in_python(func, name):
            return func(*args, **(kwargs or {}))
        bound = inspect.signature(func).bind(*args, **(kwargs or {}))
        bound.apply_defaults()
        read = {key: self.recorder.read(value) for key, value in bound.arguments.items()}
        place = self.recorder.where()
        result = func(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor) and read.get("out") is None:
            defaults = [p.name for p in bound.signature.parameters.values() if read[p.name] is p.default]
            self.recorder.emit(name, "default", read, [result], defaults, place=place, beside=True)
        return result


def _written_in_python(func, name):
    return getattr(func, "__module__", "") == "torch.nn.functional" and not hasattr(torch.ops.aten, name)
