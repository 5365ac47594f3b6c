"""Parameters for zoo models: drawn so that no layer is trivially zero and every memory layout stays as it is.

An untrained model hides bugs: a zero head, unit norms and zero biases make wrong layers look right. Here weights are
normal with variance 1 / fan-in, norms and biases are away from one and zero, and running statistics are not neutral.

This file runs inside the framework's interpreter (Python 3.8, torch only). It is not a model.
"""

import torch

INITIALISERS = ("uniform_", "normal_", "zeros_", "ones_", "constant_", "kaiming_uniform_", "xavier_uniform_")


def empty(make):
    """Build a module without torch's own initialisation, which costs more than everything else for a large model.

    The meta device would do the same, but its first use imports the compiler (two seconds).

    Args:
        make: a callable that returns the module.
    """
    kept = {name: getattr(torch.nn.init, name) for name in INITIALISERS}
    try:
        for name in INITIALISERS:
            setattr(torch.nn.init, name, lambda tensor, *args, **kwargs: tensor)
        return make()
    finally:
        for name, function in kept.items():
            setattr(torch.nn.init, name, function)


def permute_memory(parameter, order):
    """Give a parameter fresh memory whose axes lie in `order`, outermost first; its shape stays.

    Args:
        parameter: the parameter; its values are lost.
        order: axes of the parameter as they follow each other in memory, for example (1, 0) for Fortran order.
    """
    inverse = [order.index(axis) for axis in range(len(order))]
    parameter.data = torch.empty([parameter.shape[axis] for axis in order], dtype=parameter.dtype).permute(inverse)


def fill(module, seed):
    """Draw every parameter and buffer in place, in the order of the memory that it has.

    Args:
        module: the module; all its parameters and buffers are overwritten.
        seed: seed of the generator.
    """
    generator = torch.Generator().manual_seed(seed)
    norms = {
        id(parameter)
        for part in module.modules()
        if isinstance(part, (torch.nn.LayerNorm, torch.nn.GroupNorm, torch.nn.modules.batchnorm._BatchNorm))
        for parameter in [part.weight]
    }
    for parameter in module.parameters():
        if id(parameter) in norms:
            parameter.data.normal_(1.0, 0.2, generator=generator)
        elif parameter.dim() < 2:
            parameter.data.normal_(0.0, 0.3, generator=generator)
        else:
            memory(parameter).normal_(0.0, fan_in(parameter) ** -0.5, generator=generator)
    for name, buffer in module.named_buffers():
        if name.endswith("running_mean"):
            buffer.normal_(0.0, 0.3, generator=generator)
        elif name.endswith("running_var"):
            buffer.uniform_(0.5, 1.5, generator=generator)
        elif name.endswith("num_batches_tracked"):
            buffer.fill_(3)


def memory(parameter):
    """The parameter with its axes in the order of its memory: a dense view, which is filled several times faster."""
    return parameter.data.permute(sorted(range(parameter.dim()), key=lambda axis: -parameter.stride(axis)))


def fan_in(parameter):
    """Number of terms that one output of a linear or convolution weight adds up."""
    return parameter.numel() // parameter.shape[0]


def normal(seed, *shape):
    """Standard normal input of its own seed."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed + 1000))


def integers(seed, high, *shape):
    """Integer input in [0, high) of its own seed."""
    return torch.randint(high, shape, generator=torch.Generator().manual_seed(seed + 2000))
