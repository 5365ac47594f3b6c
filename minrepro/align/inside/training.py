"""Gradients and optimiser steps of a native model: of the whole, and of one unit alone on pinned values."""

import numpy

from . import noise, trees

OPTIMISERS = ("sgd", "momentum", "adamw")
RATE, MOMENTUM, DECAY = 0.01, 0.9, 0.01
BETAS, EPSILON = (0.9, 0.999), 1e-8
"""Settings that both sides get in full: defaults of optimisers differ between frameworks."""


def loss_of(native, result, seed):
    """A number that every element of a nested result has a part in, with a weight pinned by the seed.

    Args:
        native: the framework.
        result: what a model or unit returned.
        seed: of the weights, which are the same on both sides.
    """
    random = numpy.random.RandomState(seed)
    total = None
    for _, leaf in trees.leaves(result, native.is_tensor):
        if not native.floating(leaf):
            continue
        weight = random.standard_normal(tuple(leaf.shape)) / max(1.0, numpy.sqrt(numpy.prod(leaf.shape)))
        part = (leaf * native.cast(native.tensor(numpy.asarray(weight, "float32")), native.dtype_name(leaf))).sum()
        total = part if total is None else total + part
    return total


def optimiser(native, module, name):
    """One of `OPTIMISERS` on all parameters of a model, with every setting given."""
    root, parameters = native.root, [p for _, p in native.parameters(module)]
    if native.paddle:
        common = {"learning_rate": RATE, "parameters": parameters}
        if name == "sgd":
            return root.optimizer.SGD(**common)
        if name == "momentum":
            return root.optimizer.Momentum(momentum=MOMENTUM, **common)
        return root.optimizer.AdamW(beta1=BETAS[0], beta2=BETAS[1], epsilon=EPSILON, weight_decay=DECAY, **common)
    if name == "sgd":
        return root.optim.SGD(parameters, lr=RATE)
    if name == "momentum":
        return root.optim.SGD(parameters, lr=RATE, momentum=MOMENTUM)
    return root.optim.AdamW(parameters, lr=RATE, betas=BETAS, eps=EPSILON, weight_decay=DECAY)


def clear(native, module):
    """Forget all gradients."""
    for _, parameter in native.parameters(module):
        if native.paddle:
            parameter.clear_gradient()
        else:
            parameter.grad = None


def gradients(native, module):
    """Key -> gradient of every parameter that has one, in memory of its own."""
    found = {}
    for name, parameter in native.parameters(module):
        if parameter.grad is not None:
            found[name] = parameter.grad.detach().clone()
    return found


def assign_gradients(native, module, arrays):
    """Put gradients in place of the model's own."""
    for name, parameter in native.parameters(module):
        if name in arrays and parameter.grad is not None:
            value = native.tensor(numpy.asarray(arrays[name], "float32"))
            if native.paddle:
                parameter.grad.set_value(native.cast(value, native.dtype_name(parameter)))
            else:
                parameter.grad.copy_(native.cast(value, native.dtype_name(parameter)))


def unit(native, part, method, args, kwargs, seed, random):
    """Gradients of one call alone: of its inputs and of the unit's own and inner parameters.

    Args:
        native: the framework.
        part: the module, in the precision that is wanted.
        method: its method, or ``""`` for forward.
        args, kwargs: the call's arguments; they are copied.
        seed: of the pinned gradient that comes in.
        random: generator of a relative noise, or None.

    Returns:
        (label, gradient) pairs.
    """
    taken = []

    def fresh(leaf):
        made = native.detached(leaf)
        if native.floating(made):
            made = native.leaf(made)
            taken.append(made)
        return made

    args, kwargs = trees.mapped((args, kwargs), native.is_tensor, fresh)
    clear(native, part)
    wide = any(native.dtype_name(p) == "float64" for _, p in native.parameters(part)) or any(
        native.dtype_name(leaf) == "float64" for leaf in taken)
    with native.grad(), noise.watched(native, wide, random):
        loss = loss_of(native, (getattr(part, method) if method else part)(*args, **kwargs), seed)
        if loss is None or not native.wants_gradient(loss):
            return []
        loss.backward()
    found = [("input %d" % i, leaf.grad) for i, leaf in enumerate(taken) if leaf.grad is not None]
    found += [(name, value) for name, value in gradients(native, part).items()]
    clear(native, part)
    return [(label, value.detach().clone()) for label, value in found]
