"""One framework's names for what all of them have: modules, parameters, buffers, tensors, modes."""

import contextlib
import copy
import importlib
import os
import threading

import numpy

HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
LOADED = 8 << 20
"""Bytes that OneFlow is given to load at a time."""
_KINDS = {"torch": "torch", "oneflow": "like torch", "paddle": "paddle"}


class Native:
    """What the rest of `inside` asks of a framework.

    Args:
        backend: the loaded ``backends/<name>.py``.
    """

    def __init__(self, backend):
        self.name = backend.BACKEND["import"]
        self.backend = backend
        self.root = importlib.import_module(self.name)
        self.paddle = _KINDS[self.name] == "paddle"
        self.Module = self.root.nn.Layer if self.paddle else self.root.nn.Module
        self.folder = os.path.dirname(self.root.__file__) + os.sep
        # A framework's own collection of models is as much somebody's port as the user's is.
        inner = [os.path.join(self.folder, name) for name in sorted(os.listdir(self.folder)) if name != "vision"]
        self.skip = (HERE, threading.__file__, *inner)

    def is_tensor(self, value):
        """True for a tensor of this framework."""
        return isinstance(value, self.root.Tensor)

    def is_leaf(self, value):
        """True for what carries values across a seam: a tensor, or a NumPy array of numbers."""
        return self.is_tensor(value) or isinstance(value, numpy.ndarray) and value.dtype.kind in "fiub"

    def is_value(self, value):
        """The same for what a unit returns, where plain numbers count too: a drawn rate, a number of tokens."""
        return self.is_leaf(value) or isinstance(value, (int, float)) and not isinstance(value, bool)

    def is_dtype(self, value):
        """True for one of the framework's own dtypes."""
        return isinstance(value, type(self.root.float32))

    def wait(self):
        """Return when everything that was called is done: OneFlow works on threads of its own."""
        if self.name == "oneflow":
            self.root._oneflow_internal.eager.Sync()

    def modules(self, module):
        """(path, module) of the module and all below it, each once."""
        if self.paddle:
            return list(module.named_sublayers(include_self=True))
        return list(module.named_modules())

    def parameters(self, module):
        """(path, parameter), each once."""
        return list(module.named_parameters())

    def own(self, module):
        """(name, tensor) of the parameters and buffers that belong to this very module."""
        held = list(module._parameters.items()) + list(module._buffers.items())
        return [(name, tensor) for name, tensor in held if tensor is not None]

    def is_lazy(self, parameter):
        """True for a parameter that only the first call makes."""
        return self.name == "torch" and self.root.nn.parameter.is_lazy(parameter)

    def shape(self, tensor):
        """The shape as a list; empty for a parameter that is not made yet."""
        return [] if self.is_lazy(tensor) else list(tensor.shape)

    def state(self, module):
        """Key -> tensor of everything that the model saves."""
        if self.name == "torch":
            return {k: v for k, v in module.state_dict(keep_vars=True).items() if self.is_tensor(v)}
        return {k: v for k, v in module.state_dict().items() if self.is_tensor(v)}

    def reseed(self, seed):
        """Set the framework's own seed."""
        self.root.seed(seed) if self.paddle else self.root.manual_seed(seed)

    def streams(self):
        """Where the random streams of the framework and of NumPy stand."""
        # OneFlow takes milliseconds to say it, at every seam.
        own = None if self.name == "oneflow" else self.root.get_rng_state()
        return own, numpy.random.get_state()

    def set_streams(self, streams):
        """Go on from there."""
        if streams[0] is not None:
            self.root.set_rng_state(streams[0])
        numpy.random.set_state(streams[1])

    def drawn(self, before, after):
        """True if something was drawn between two answers of `streams`; OneFlow's kernels leave no trace."""
        if self.paddle:
            # All but the place in memory where it stands, the fourth word.
            left, right = ([str(state).split(" ", 4) for state in one[0]] for one in (before, after))
            left, right = ([words[:3] + words[4:] for words in one] for one in (left, right))
            own = left != right
        else:
            own = before[0] is not None and not self.root.equal(before[0], after[0])
        return own or before[1][2] != after[1][2] or not numpy.array_equal(before[1][1], after[1][1])

    def train(self, module, on):
        """Switch between training and evaluation."""
        module.train() if on else module.eval()

    def no_grad(self):
        """Context in which nothing is recorded for a gradient."""
        return self.root.no_grad()

    def shown(self, tensor):
        """The tensor without its history; what OneFlow's `detach` makes of a view forgets where in memory it begins."""
        if self.name == "oneflow" and not tensor.is_contiguous():
            tensor = tensor.clone()
        return tensor.detach()

    def grad(self):
        """Context in which gradients are recorded, whatever is set outside."""
        return self.root.enable_grad()

    def leaf(self, tensor):
        """A tensor that collects a gradient."""
        if self.paddle:
            tensor.stop_gradient = False
            return tensor
        return tensor.requires_grad_()

    def wants_gradient(self, tensor):
        """True if something before it collects a gradient."""
        return not tensor.stop_gradient if self.paddle else tensor.requires_grad

    def detached(self, tensor):
        """A copy with memory of its own, which keeps the strides where the framework can."""
        kept = tensor.detach()
        if self.name == "torch" and kept.numel() and not kept.is_contiguous():
            span = 1 + sum((n - 1) * s for n, s in zip(kept.shape, kept.stride()))
            flat = kept.as_strided((span,), (1,), kept.storage_offset()).clone()
            return flat.as_strided(kept.shape, kept.stride(), 0)
        return kept.clone()

    def dtype_name(self, tensor):
        """float32, int64 ..."""
        return str(tensor.dtype).split(".")[-1]

    def floating(self, tensor):
        """True for real floating-point tensors."""
        return self.dtype_name(tensor) in ("float16", "bfloat16", "float32", "float64")

    def cast(self, tensor, dtype):
        """The tensor in another dtype, given by name."""
        if self.dtype_name(tensor) == dtype:
            return tensor
        return tensor.astype(dtype) if self.paddle else tensor.to(getattr(self.root, dtype))

    def double(self, module):
        """A copy of a model in float64; integers and booleans stay."""
        made = copy.deepcopy(module)
        if self.paddle:
            for layer in made.sublayers(include_self=True):
                for name, tensor in self.own(layer):
                    if self.floating(tensor):
                        wide = tensor.astype("float64")
                        if name in layer._parameters:
                            new = self.root.base.framework.EagerParamBase.from_tensor(wide, trainable=not tensor.stop_gradient)
                            layer._parameters[name] = new
                        else:
                            layer._buffers[name] = wide
                layer._dtype = "float64"
            return made
        return made.double()

    def widened(self, value):
        """A floating tensor in float64; anything else as it is."""
        return self.cast(value, "float64") if self.is_tensor(value) and self.floating(value) else value

    @contextlib.contextmanager
    def default_dtype(self, name):
        """Inside, new floating-point tensors have this dtype; None leaves it."""
        if name is None:
            yield
            return
        before = self.root.get_default_dtype()
        try:
            self.root.set_default_dtype(name if self.paddle else getattr(self.root, name))
            yield
        finally:
            self.root.set_default_dtype(before)

    def version(self, tensor):
        """A count of in-place writes; None where the framework keeps none."""
        if isinstance(tensor, numpy.ndarray):
            return None
        if self.name == "torch":
            try:
                return tensor._version
            except RuntimeError:
                return None
        return tensor.inplace_version if self.paddle else None

    def write(self, target, value):
        """Copy values into a tensor in place."""
        with self.no_grad():
            if self.paddle:
                target.set_value(value) if target.is_leaf and not target.stop_gradient else self.root.assign(value, target)
            else:
                target.copy_(value)

    def array(self, tensor):
        """The values as a C-ordered NumPy array of its own (bfloat16 as float32)."""
        return numpy.array(self.seen(tensor), order="C")

    def seen(self, tensor):
        """The values as a NumPy array, to look at only: it may share the tensor's memory."""
        tensor = tensor.detach()
        if self.dtype_name(tensor) == "bfloat16":
            tensor = self.cast(tensor, "float32")
        return tensor.numpy()

    def tensor(self, array, dtype=None):
        """A tensor with memory of its own."""
        dense = numpy.ascontiguousarray(array).reshape(numpy.shape(array))
        return self.backend.from_array(dense, dtype or array.dtype.name)

    def load(self, module, state):
        """Load arrays into a model; keys that one of them does not have are passed over."""
        if self.paddle:
            narrow = {key for key, t in module.state_dict().items() if self.dtype_name(t) == "bfloat16"}
            state = {key: self.cast(self.tensor(value), "bfloat16") if key in narrow and value.dtype == "float32" else value
                     for key, value in state.items()}
            module.set_state_dict(state)
        elif self.name == "torch":
            # Strides stay: a fault of loading can live in them and nowhere else.
            module.load_state_dict({key: self.root.from_numpy(value) for key, value in state.items()}, strict=False)
        else:
            # OneFlow copies each array first and loads it later, in a thread that falls behind: without a pause the copies
            # of a whole model would be alive at once.
            for part in parts(state, LOADED):
                module.load_state_dict(part, strict=False)
                held = module.state_dict()
                for key in list(part)[-1:]:
                    if key in held:
                        held[key].numpy()  # waits for all before it

    def title(self, module):
        """Class name, with the framework's package in front for the framework's own layers."""
        kind = type(module)
        own = (kind.__module__ or "").split(".")[0] == self.name
        return ("%s.nn.%s" % (self.name, kind.__name__)) if own else kind.__name__

    def layer(self, module):
        """The title of the framework's own layer that a module is, or that its class derives from."""
        own = [kind for kind in type(module).__mro__ if self.is_own(kind) and kind is not self.Module]
        return "%s.nn.%s" % (self.name, own[0].__name__) if own else self.title(module)

    def is_own(self, kind):
        """True for a class of the framework itself."""
        return (kind.__module__ or "").split(".")[0] == self.name


def parts(arrays, limit):
    """A dict of arrays as dicts of at most `limit` bytes, or one array."""
    part, size = {}, 0
    for key, value in arrays.items():
        if part and size + value.nbytes > limit:
            yield part
            part, size = {}, 0
        part[key] = value
        size += value.nbytes
    if part:
        yield part
