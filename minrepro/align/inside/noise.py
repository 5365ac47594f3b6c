"""Float64 runs of a model: nothing in it stays in float32, and on request small relative noise on every value.

The noise tells how far rounding alone moves a result. On torch it comes on the result of every operator, so that a step
that loses digits inside a module shows; elsewhere only on what enters a unit. Integers in floating point (masks,
counts, labels) stay: they are exact, and steer what a model does.
"""

import contextlib

import numpy

NUDGE = 2.0**-26
"""Relative size of the noise, as in the host's `compare.sensitivity`."""


def moved(native, tensor, random):
    """A tensor with noise on all its elements that are no integers."""
    values = native.array(tensor)
    noise = 1.0 + NUDGE * random.standard_normal(values.shape)
    return native.tensor(numpy.where(values == numpy.round(values), values, values * noise), "float64")


def watched(native, wide, random):
    """Context of one run: on torch a float64 run widens what the model makes in float32, and adds the noise."""
    if not wide or native.name != "torch":
        return contextlib.nullcontext()
    return _mode(native.root, random)


def _mode(torch, random):
    from torch.utils._python_dispatch import TorchDispatchMode

    generator = None if random is None else torch.Generator().manual_seed(int(random.randint(2**31)))

    class Wide(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            kwargs = dict(kwargs or {})
            if kwargs.get("dtype") is torch.float32:
                kwargs["dtype"] = torch.float64
            result = function(*args, **kwargs)
            schema = function._schema
            if generator is None or any(part.alias_info is not None for part in (*schema.arguments, *schema.returns)):
                return result
            # A norm or a convolution gives several results at once, above all in its backward.
            return type(result)(map(noisy, result)) if type(result) in (tuple, list) else noisy(result)

    def noisy(result):
        if not isinstance(result, torch.Tensor) or result.dtype != torch.float64:
            return result
        # The operator itself: `torch.randn` is watched, and would take a draw of the model for this noise.
        noise = torch.ops.aten.randn.generator(result.shape, generator=generator, dtype=torch.float64)
        return torch.where(result == result.round(), result, result * noise.mul_(NUDGE).add_(1.0))

    return Wide()
