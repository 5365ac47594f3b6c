"""The user's model: import it, build it, give it inputs, call it; and say in data what the user has to mend.

Nothing here depends on how a call is recorded. Every call of the model starts from the same seeds, the same inputs
(fresh copies with the same layout) and the same buffers, so that two calls can be compared bit for bit.
"""

import contextlib
import importlib.util
import inspect
import os
import random
import sys
import time

import numpy
import torch

from . import values

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.dirname(os.path.dirname(HERE))
TORCH = os.path.dirname(torch.__file__) + os.sep


def _beside(*parts):
    """Load a worker-side file of another package by path."""
    name = "minrepro_" + parts[-1][: -len(".py")]
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, os.path.join(PACKAGE, *parts))
        sys.modules[name] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[name]


building = _beside("worker", "building.py")
Mistake = building.Mistake


class Subject:
    """A built model with its inputs, ready to be called any number of times."""

    def __init__(self, module, title, args, kwargs, seed):
        self.module, self.title, self.seed = module, title, seed
        self.args, self.kwargs = args, kwargs
        self.paths = {id(part): path for path, part in module.named_modules()}
        self.seconds = {}
        self.bound = {}

    def run(self):
        """Call the model plainly; return its output tensors.

        Raises:
            Mistake: if it raises, or returns no tensor.
        """
        try:
            outputs = self.call()
        except Exception as error:
            raise Mistake("raised", stage="forward", **building.blame(error, self.paths, (TORCH,))) from None
        return [tensor.detach().clone() for _, tensor in self.tensors_of(outputs)]

    def tensors_of(self, outputs):
        """Label and tensor of everything in the model's result that is a tensor.

        Raises:
            Mistake: if there is none.
        """
        found = values.leaves(outputs, "")
        if not found:
            raise Mistake("no_tensors", got=type(outputs).__name__)
        return [(label or "output", tensor) for label, tensor in found]

    def call(self):
        """Call the model once from a fresh start and return its result."""
        with self.started() as (args, kwargs):
            return self.module(*args, **kwargs)

    @contextlib.contextmanager
    def started(self):
        """A fresh start: seeds set, gradients off, (args, kwargs) copied; buffers are put back at the end."""
        args, kwargs = values.copied((self.args, self.kwargs), {})
        for parameter in self.module.parameters():
            # Even where no gradients are kept, torch's products choose another kernel for a weight that wants one.
            if not torch.nn.parameter.is_lazy(parameter):
                parameter.requires_grad_(False)
        random.seed(self.seed)
        numpy.random.seed(self.seed % 2**32)
        torch.manual_seed(self.seed)
        kept = [(buffer, buffer.clone()) for buffer in self.module.buffers()]
        try:
            with torch.no_grad(), _slow_attention():
                yield args, kwargs
        finally:
            for buffer, before in kept:
                if buffer.shape == before.shape and not values.same(buffer, before):
                    buffer.copy_(before)

    def named(self, args, kwargs):
        """(name, tensor) of the inputs, named after the parameters of forward."""
        pairs = []
        bound = inspect.signature(self.module.forward).bind(*args, **kwargs)
        for name, value in bound.arguments.items():
            kind = bound.signature.parameters[name].kind
            if kind is inspect.Parameter.VAR_KEYWORD:
                for key, item in value.items():
                    pairs += values.leaves(item, key)
            else:
                pairs += values.leaves(value, name)
        return pairs


@contextlib.contextmanager
def _slow_attention():
    """Torch's encoder layers skip to one fused kernel unless somebody watches, and that one rounds differently."""
    switch = getattr(torch.backends, "mha", None)
    if switch is None:
        yield
        return
    kept = switch.get_fastpath_enabled()
    switch.set_fastpath_enabled(False)
    try:
        yield
    finally:
        switch.set_fastpath_enabled(kept)


def load(source, inputs, seed, train):
    """Import and build the model, and get its inputs.

    Raises:
        Mistake: for everything that the user can mend.
    """
    start = time.perf_counter()
    builder = building.named(source)
    if not isinstance(builder, torch.nn.Module):  # a module that the file made is its own result
        with torch.no_grad():
            builder = building.make(builder, seed, torch.manual_seed)
    made = builder
    module, given = made if isinstance(made, tuple) and len(made) == 2 else (made, None)
    if not isinstance(module, torch.nn.Module):
        raise Mistake("no_module", callable=source["callable"], got=type(module).__name__)
    module.train(train)
    _refuse_nan(module)
    # A user's specs mean exactly what they say; what a callable gives can be meant in several ways.
    ways = _ways(given, inputs, seed)
    args, kwargs = _arguments(module, ways, given is None and not inputs)
    subject = Subject(module, type(module).__name__, args, kwargs, seed)
    if any(map(torch.nn.parameter.is_lazy, module.parameters())):
        # The first call makes the weights, so it must be over before anybody looks at them.
        subject.run()
    subject.seconds["build"] = time.perf_counter() - start
    return subject


def _ways(given, inputs, seed):
    if inputs:
        return [building.from_specs(inputs, seed, values.tensor_from)]
    return building.readings(None if given is None else values.tensor_of(given))


def _refuse_nan(module):
    """A NaN weight makes every comparison void. The sum is a cheap test: it is NaN if any term is."""
    bad = []
    for name, tensor in module.state_dict().items():
        if not isinstance(tensor, torch.Tensor) or torch.nn.parameter.is_lazy(tensor):
            continue
        if tensor.is_floating_point() and not torch.isfinite(tensor.sum()) and bool(torch.isnan(tensor).any()):
            bad.append("%s (%d of %d elements)" % (name, int(torch.isnan(tensor).sum()), tensor.numel()))
    if bad:
        raise Mistake("nan", entries=bad)


def _arguments(module, ways, nothing):
    """The first of several (args, kwargs) that the signature of the model's forward takes."""
    signature = inspect.signature(module.forward)
    for args, kwargs in ways:
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:
            refusal = str(error)
            continue
        return args, kwargs
    forward = "forward%s of %s" % (signature, type(module).__name__)
    if nothing:
        raise Mistake("inputs_missing", forward=forward, example=_example(module, signature))
    raise Mistake("inputs_wrong", forward=forward, message=refusal)


def _example(module, signature):
    """Input specs that could fit, guessed from the first layer that tells its input size."""
    guess = "float32[2,3,32,32]"
    for part in module.modules():
        if isinstance(part, torch.nn.modules.conv._ConvNd):
            guess = "float32[%s]" % ",".join(map(str, [2, part.in_channels] + [32] * len(part.kernel_size)))
        elif isinstance(part, torch.nn.Embedding):
            guess = "int64[2,16]<%d" % part.num_embeddings
        elif isinstance(part, torch.nn.Linear):
            guess = "float32[2,%d]" % part.in_features
        else:
            continue
        break
    needed = [
        p.name for p in signature.parameters.values()
        if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
    ]
    return ["%s=%s" % (name, guess) for name in needed]
