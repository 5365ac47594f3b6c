"""Random draws as seams: every one that a forward makes is shown, and can be replaced by the other side's value.

Equal seeds are never taken as equal draws: frameworks have streams of their own, and a port may draw in another order.
What is patched here are the functions through which models draw; outside of a `Run` they do what they always did.
"""

import functools
import threading

import numpy

from . import running

INSIDE = threading.local()
"""Set while a patched function runs, so that the draw of a draw is not shown."""



def install(native):
    """Patch the framework's and NumPy's drawing functions once."""
    root = native.root
    for name, describe in _FUNCTIONS.items():
        if hasattr(root, name):
            setattr(root, name, _tensor_draw(native, getattr(root, name), describe))
    for name, describe in _METHODS.items():
        if hasattr(root.Tensor, name):
            setattr(root.Tensor, name, _method_draw(native, getattr(root.Tensor, name), describe))
    functional = root.nn.functional
    # OneFlow's layers go past its functional interface.
    for holder in (functional, root._C) if native.name == "oneflow" else (functional,):
        for name in ("dropout", "dropout1d", "dropout2d", "dropout3d"):
            if hasattr(holder, name):
                setattr(holder, name, _dropout(native, getattr(holder, name)))
    if native.name == "torch":
        functional.scaled_dot_product_attention = _attention(native, functional.scaled_dot_product_attention)
    for name, describe in _NUMPY.items():
        setattr(numpy.random, name, _numpy_draw(native, getattr(numpy.random, name), describe))
    numpy.random.shuffle = _shuffle(native, numpy.random.shuffle)


def _current():
    """The run of this thread, unless it is inside a draw already."""
    return None if getattr(INSIDE, "on", False) else running.RUNS.get(threading.get_ident())


def _quietly(function, args, kwargs):
    INSIDE.on = True
    try:
        return function(*args, **kwargs)
    finally:
        INSIDE.on = False


def _tensor_draw(native, original, describe):
    @functools.wraps(original)
    def drawn(*args, **kwargs):
        run = _current()
        if run is None:
            return original(*args, **kwargs)
        value = _quietly(original, args, kwargs)
        return run.draw(describe(args, kwargs), value) if native.is_tensor(value) else value

    return drawn


def _method_draw(native, original, describe):
    @functools.wraps(original)
    def drawn(self, *args, **kwargs):
        run = _current()
        if run is None:
            return original(self, *args, **kwargs)
        value = _quietly(original, (self, *args), kwargs)
        new = run.draw(describe((self, *args), kwargs), value)
        if new is not value:
            native.write(self, new)
        return value

    return drawn


def _dropout(native, original):
    """Dropout is a draw of which elements stay; the scaled mask is what two sides can share."""

    @functools.wraps(original)
    def drawn(x, p=0.5, *args, **kwargs):
        run = _current()
        training = kwargs.get("training", True)
        flags = [a for a in args if isinstance(a, bool)]
        training = flags[0] if flags else training
        if run is None or not training or p == 0:
            return original(x, p, *args, **kwargs)
        ones = native.root.ones_like(x)
        more = {k: v for k, v in kwargs.items() if k not in ("inplace", "addend")}
        kept = x * run.draw("dropout(%g)" % p, _quietly(original, (ones, p, *args), more))
        return kept if kwargs.get("addend") is None else kept + kwargs["addend"]

    return drawn


def _attention(native, original):
    """Attention that drops out inside its kernel, written out: only so can two sides share what it drops."""
    torch = native.root

    @functools.wraps(original)
    def drawn(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
        run = _current()
        if run is None or not dropout_p or enable_gqa:
            more = {"enable_gqa": True} if enable_gqa else {}
            return original(query, key, value, attn_mask, dropout_p, is_causal, scale=scale, **more)
        scores = query @ key.transpose(-2, -1) * (query.shape[-1] ** -0.5 if scale is None else scale)
        if is_causal:
            attn_mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=query.device).tril()
        if attn_mask is not None:
            masked = attn_mask.dtype == torch.bool
            scores = scores.masked_fill(~attn_mask, float("-inf")) if masked else scores + attn_mask
        return torch.nn.functional.dropout(scores.softmax(-1), dropout_p) @ value

    return drawn


def _numpy_draw(native, original, describe):
    @functools.wraps(original)
    def drawn(*args, **kwargs):
        run = _current()
        value = original(*args, **kwargs)
        if run is None:
            return value
        new = run.draw("numpy " + describe(args, kwargs), numpy.asarray(value), numpy_value=True)
        if isinstance(value, numpy.ndarray):
            return new.astype(value.dtype).reshape(value.shape)
        return type(value)(new.item())

    return drawn


def _shuffle(native, original):
    @functools.wraps(original)
    def drawn(x):
        run = _current()
        original(x)
        if run is not None and isinstance(x, numpy.ndarray):
            x[...] = run.draw("numpy permutation", x.copy(), numpy_value=True)
        elif run is not None:
            x[:] = run.draw("numpy permutation", numpy.asarray(x), numpy_value=True).tolist()

    return drawn


def _plain(text):
    return lambda args, kwargs: text


def _bounds(low, high, skip=0):
    """Describe ``name(low, high)`` from arguments that may be left out or given by name."""

    def describe(args, kwargs):
        given = [a for a in args[skip:] if isinstance(a, (int, float)) and not isinstance(a, bool)]
        a = kwargs.get("low", kwargs.get("min", kwargs.get("mean", kwargs.get("loc"))))
        b = kwargs.get("high", kwargs.get("max", kwargs.get("std", kwargs.get("scale"))))
        first = a if a is not None else given.pop(0) if given else low
        second = b if b is not None else given.pop(0) if given else high
        return "(%s, %s)" % (_number(first), _number(second))

    return describe


def _number(value):
    return "%g" % value if isinstance(value, (int, float)) else "tensor"


def _family(name, low, high, skip=0):
    bounds = _bounds(low, high, skip)
    return lambda args, kwargs: name + bounds(args, kwargs)


def _integers(args, kwargs):
    """randint(high, shape) and randint(low, high, shape), by position or name."""
    given = [a for a in args if isinstance(a, int) and not isinstance(a, bool)]
    low, high = kwargs.get("low"), kwargs.get("high")
    if low is None and high is None:
        low, high = (0, given[0]) if len(given) == 1 else given[:2] if given else (0, 0)
    elif high is None:
        low, high = (low, given[0]) if given else (0, low)
    elif low is None:
        low = given[0] if given else 0
    return "integers(%s, %s)" % (_number(low), _number(high))


_FUNCTIONS = {
    "randn": _plain("normal(0, 1)"), "standard_normal": _plain("normal(0, 1)"), "randn_like": _plain("normal(0, 1)"),
    "rand": _plain("uniform(0, 1)"), "rand_like": _plain("uniform(0, 1)"),
    "normal": _family("normal", 0, 1), "uniform": _family("uniform", -1, 1, 1),
    "randint": _integers, "randint_like": _integers,
    "randperm": _plain("permutation"), "bernoulli": _plain("bernoulli"), "multinomial": _plain("multinomial"),
    "poisson": _plain("poisson"),
}
_METHODS = {
    "normal_": _family("normal", 0, 1, 1), "uniform_": _family("uniform", 0, 1, 1), "bernoulli_": _plain("bernoulli"),
    "exponential_": _plain("exponential"), "random_": _integers,
}
_NUMPY = {
    "rand": _plain("uniform(0, 1)"), "random": _plain("uniform(0, 1)"), "random_sample": _plain("uniform(0, 1)"),
    "randn": _plain("normal(0, 1)"), "standard_normal": _plain("normal(0, 1)"),
    "normal": _family("normal", 0, 1), "uniform": _family("uniform", 0, 1),
    "randint": _integers, "permutation": _plain("permutation"), "choice": _plain("choice"),
}
