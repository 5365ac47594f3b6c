"""Align inside a worker: one side's native model, its state, and forwards that stop at every seam.

Valid Python 3.8, imports nothing of minrepro. `native` knows the framework, `running` stops a forward at its seams,
`draws` and `precision` patch what a model can do behind the seams, `inputs` and `trees` handle nested values.
"""

import importlib
import inspect
import time

import numpy

from . import draws, inputs, making, native, patches, precision, running, training, trees
from . import failing as failing_

BUILDING = CAPTURE = None
"""The file ``worker/building.py``, and on torch the package ``capture/inside``; set by `worker_side`."""


class Seat:
    """One side: the model, its inputs, copies of it in float64, and the runs that are on."""

    def __init__(self, evaluator, framework, module, seed):
        self.evaluator, self.native, self.module, self.seed = evaluator, framework, module, seed
        self.args, self.kwargs, self.given = (), {}, None
        self.wide, self.traced = None, False
        self.runs, self.lines = {}, {}
        self.building, self.sources, self.made, self.expected, self.exchanged = BUILDING, {}, {}, {}, {}


def build(evaluator, source, seed, train, neutral, trace):
    """See `worker_side.build`."""
    framework = native.Native(evaluator.backend)
    if not getattr(evaluator.backend, "align_installed", False):
        draws.install(framework)
        precision.install(framework, neutral)
        evaluator.backend.align_installed = True
        if trace:
            importlib.import_module(__name__ + ".tracing").install(framework, trace)
    start = time.perf_counter()
    before = patches.snapshot(framework)
    builder = BUILDING.named(source)
    made = {}
    if not isinstance(builder, framework.Module):
        with framework.no_grad(), making.watched(framework) as made:
            builder = BUILDING.make(builder, seed, framework.reseed)
    pair = isinstance(builder, tuple) and len(builder) == 2
    module, given = builder if pair else (builder, None)
    if not isinstance(module, framework.Module):
        raise BUILDING.Mistake("no_module", callable=source["callable"], got=type(module).__name__)
    framework.train(module, train)
    seat = Seat(evaluator, framework, module, seed)
    seat.given, seat.traced = given, bool(trace)
    evaluator.seat = seat
    seat.lines = made
    return dict(
        _tree(seat), model=type(module).__name__, seconds=time.perf_counter() - start,
        patches=patches.changed(framework, before),
    )


def _tree(seat):
    """Every module of the model, and whether some of its parameters are only made by the first call."""
    framework, tree = seat.native, []
    for path, part in framework.modules(seat.module):
        own = [[name, framework.shape(tensor)] for name, tensor in framework.own(part)]
        tree.append({
            "path": path, "type": framework.title(part), "own": own, "methods": running.methods(framework, part),
            "settings": _settings(framework, part), "source": _source(framework, part),
            "made": seat.lines.get(id(part)), "loose": _loose(framework, seat.module, path, part),
        })
    return {"tree": tree, "lazy": any(framework.is_lazy(p) for _, p in framework.parameters(seat.module))}


def _loose(framework, module, path, part):
    """Names of plain lists and dicts of a user's module that hold modules with weights which nobody has registered."""
    found = []
    known = {id(other) for _, other in framework.modules(module)}
    for name, value in vars(part).items():
        if name.startswith("_") or framework.is_own(type(part)) or not isinstance(value, (list, tuple, dict)):
            continue
        held = value.values() if isinstance(value, dict) else value
        if any(isinstance(v, framework.Module) and id(v) not in known and framework.parameters(v) for v in held):
            found.append(running.joined(path, name))
    return found


def _settings(framework, part):
    """Plain attributes of a module: what its constructor was told."""
    found = {}
    for name, value in vars(part).items():
        plain = isinstance(value, (bool, int, float, str)) or value is None
        if isinstance(value, (tuple, list)) and value and all(isinstance(v, (int, float)) for v in value):
            plain, value = True, list(value)
        if plain and not name.startswith("__"):
            found[name.lstrip("_")] = value
    return found


def _source(framework, part):
    """File and line of a user's class."""
    if framework.is_own(type(part)):
        return None
    try:
        return [inspect.getsourcefile(type(part)), inspect.getsourcelines(type(part))[1]]
    except (OSError, TypeError):
        return None


def given(evaluator, specs):
    """See `worker_side.given`."""
    seat = evaluator.seat
    if specs:
        ways = [BUILDING.from_specs(specs, seat.seed, inputs.maker(seat.native))]
    else:
        ways = BUILDING.readings(inputs.tensors(seat.native, seat.given))
    seat.args, seat.kwargs = inputs.fitting(seat.module, ways, BUILDING.Mistake, seat.given is None and not specs)
    names = []

    def take(tensor):
        names.append("input%d" % len(names))
        evaluator.namespace[names[-1]] = tensor.detach()
        return names[-1]

    tree = trees.written([list(seat.args), seat.kwargs], seat.native.is_tensor, take)
    return {"tree": tree, "names": names}


def taken(evaluator, tree):
    """See `worker_side.taken`."""
    seat = evaluator.seat
    try:
        args, seat.kwargs = trees.read(tree, lambda name: evaluator.namespace[name])
    except TypeError as error:
        raise BUILDING.Mistake("inputs_wrong", forward="the port", message=str(error)) from None
    seat.args, seat.kwargs = inputs.fitting(seat.module, [(tuple(args), seat.kwargs)], BUILDING.Mistake, False)
    return {}


def warm(evaluator):
    """See `worker_side.warm`."""
    seat = evaluator.seat
    seat.native.reseed(seat.seed)
    args, kwargs = trees.mapped((seat.args, seat.kwargs), seat.native.is_tensor, seat.native.detached)
    with seat.native.no_grad():
        try:
            seat.module(*args, **kwargs)
        except Exception as error:
            paths = {id(part): path for path, part in seat.native.modules(seat.module)}
            raise BUILDING.Mistake("raised", stage="forward", **BUILDING.blame(error, paths, (seat.native.folder,))) from None
    return _tree(seat)


def watch(evaluator, units):
    """See `worker_side.watch`."""
    seat = evaluator.seat
    seat.units = list(units)
    if seat.traced:
        importlib.import_module(__name__ + ".tracing").shield()
    running.unwrap(seat.native, seat.module)
    return running.wrap(seat.native, seat.module, units)


def start(evaluator, title, forced, unit, of, nudge):
    """See `worker_side.start`."""
    seat = evaluator.seat
    if of:
        return _local(seat, title, unit, seat.runs[of], nudge)
    seat.native.reseed(seat.seed)
    numpy.random.seed(seat.seed % 2**32)
    args, kwargs = trees.mapped((seat.args, seat.kwargs), seat.native.is_tensor, seat.native.detached)
    return _started(seat, running.Run(seat.native, evaluator, title, lambda: seat.module(*args, **kwargs), forced=forced))


def _started(seat, run):
    seat.runs[run.title] = run
    return _event(seat, run.title, run.start())


def _local(seat, title, unit, of, nudge):
    """Run the call that `of` is about to make, on a float64 copy of its unit."""
    path, _, method = unit.partition("::")
    part = _wide(seat, path)
    _, args, kwargs = of.at

    def fresh(leaf):
        return leaf.copy() if isinstance(leaf, numpy.ndarray) else seat.native.widened(seat.native.detached(leaf))

    args, kwargs = trees.mapped((args, kwargs), seat.native.is_leaf, fresh)
    # Its noise comes from a generator of its own, whatever the model draws.
    random = numpy.random.RandomState(nudge) if nudge else None
    call = getattr(part, method) if method else part
    run = running.Run(seat.native, seat.evaluator, title, lambda: call(*args, **kwargs), "float64", random)
    run.counts, run.stack = dict(of.counts), list(of.stack)
    run.counts[unit] -= 1
    return _started(seat, run)


def _wide(seat, path):
    """The float64 copy of a part, watched like the part; only the last one is kept."""
    if seat.wide is None or seat.wide[0] != path:
        seat.wide = None
        part = seat.native.double(dict(seat.native.modules(seat.module))[path])
        running.unwrap(seat.native, part)
        inner = [name for name in seat.units if not path or name.partition("::")[0] == path or name.startswith(path + ".")]
        running.wrap(seat.native, part, inner, path)
        seat.wide = path, part
    return seat.wide[1]


def go(evaluator, title, replace):
    """See `worker_side.go`."""
    seat = evaluator.seat
    return _event(seat, title, seat.runs[title].go({"replace": replace}))


def stop(evaluator, title):
    """See `worker_side.stop`."""
    run = evaluator.seat.runs.pop(title, None)
    if run is not None:
        run.stop()
    return {}


def _event(seat, title, event):
    if event["kind"] == "raised":
        paths = {id(part): path for path, part in seat.native.modules(seat.module)}
        if seat.wide is not None:
            paths.update({id(part): running.joined(seat.wide[0], path) for path, part in seat.native.modules(seat.wide[1])})
        error = seat.runs[title].error
        event["blame"] = BUILDING.blame(error, paths, (seat.native.folder,))
    return event


def gradient(evaluator, title, unit, call, wide, nudge):
    """See `worker_side.gradient`."""
    seat = evaluator.seat
    if (unit, call) not in seat.runs[title].recent:
        return {"values": []}
    args, kwargs = seat.runs[title].recent[unit, call]
    path, _, method = unit.partition("::")
    part = _wide(seat, path) if wide else dict(seat.native.modules(seat.module))[path]
    if wide:
        args, kwargs = trees.mapped((args, kwargs), seat.native.is_tensor, seat.native.widened)
    random = numpy.random.RandomState(nudge) if nudge else None
    with seat.native.default_dtype("float64" if wide else None):
        try:
            found = training.unit(seat.native, part, method, args, kwargs, seat.seed, random)
        except Exception as error:  # a float64 copy of a recurrent layer, an operator without a gradient
            return {"values": [], "failed": "%s: %s" % (type(error).__name__, str(error).strip().partition("\n")[0][:200])}
    return {"values": _listed(evaluator, "gradient", found)}


def _listed(evaluator, prefix, pairs):
    """Bind values to variables and describe them."""
    described = []
    for number, (label, value) in enumerate(pairs):
        name = "%s%d" % (prefix, number)
        evaluator.namespace[name] = value
        described.append({"label": label, "var": name})
    return described


def step(evaluator, title, wide, nudge):
    """See `worker_side.step`."""
    seat = evaluator.seat
    module = _wide(seat, "") if wide else seat.module
    seat.native.reseed(seat.seed)
    numpy.random.seed(seat.seed % 2**32)

    def fresh(tensor):
        made = seat.native.detached(tensor)
        return seat.native.widened(made) if wide else made

    args, kwargs = trees.mapped((seat.args, seat.kwargs), seat.native.is_tensor, fresh)
    training.clear(seat.native, module)

    def body():
        loss = training.loss_of(seat.native, module(*args, **kwargs), seat.seed)
        loss.backward()
        return dict({"loss": loss.detach()}, **training.gradients(seat.native, module))

    random = numpy.random.RandomState(nudge) if nudge else None
    return _started(seat, running.Run(seat.native, evaluator, title, body, "float64" if wide else None, random, seams=False))


def optimise(evaluator, name, given):
    """See `worker_side.optimise`."""
    seat = evaluator.seat
    if getattr(seat, "optimiser", (None,))[0] != name:
        seat.optimiser = name, training.optimiser(seat.native, seat.module, name)
    if given:
        training.assign_gradients(seat.native, seat.module, seat.made)
    seat.optimiser[1].step()
    seat.wide = None
    return {"values": _listed(evaluator, "after", [(k, p.detach()) for k, p in seat.native.parameters(seat.module)])}


def reset(evaluator, arrays):
    """See `worker_side.reset`."""
    seat = evaluator.seat
    if arrays is None:
        arrays = seat.initial
        seat.optimiser = (None,)
    elif arrays == "keep":
        seat.initial = {key: seat.native.array(t) for key, t in seat.native.state(seat.module).items()}
        return {}
    else:
        arrays = seat.made
    with seat.native.no_grad():
        seat.native.load(seat.module, arrays)
    seat.wide = None
    return {}


def failing(evaluator, title):
    """See `worker_side.failing`."""
    seat = evaluator.seat
    found = failing_.call(seat.native, seat.runs[title].error)
    if found is None:
        return {}
    described, values = found
    names = [seat.native.dtype_name(v) if seat.native.is_tensor(v) else v.dtype.name for v in values]
    return dict(described, specs=[{"shape": list(v.shape), "dtype": name} for v, name in zip(values, names)])


def alone(evaluator, title, rows):
    """See `worker_side.alone`."""
    seat = evaluator.seat
    name, args, kwargs = seat.runs[title].at
    path, _, method = name.partition("::")
    part = dict(seat.native.modules(seat.module))[path]
    running.unwrap(seat.native, seat.module)
    try:
        called = _Method(seat.native, part, method).module if method else part
        subject = CAPTURE.model.Subject(called, name, args, kwargs, seat.seed)
        return CAPTURE._climb(evaluator, subject, "auto", frozenset(rows))
    except CAPTURE.model.Mistake as mistake:
        return {"error": mistake.facts}
    finally:
        running.wrap(seat.native, seat.module, seat.units)


class _Method:
    """A method of a module as the forward of another one, which is what a capture takes."""

    def __init__(self, framework, part, method):
        class Called(framework.Module):
            def __init__(self):
                super().__init__()
                self.inner = part

            def forward(self, *args, **kwargs):
                return getattr(self.inner, method)(*args, **kwargs)

        self.module = Called()


def noted(evaluator):
    """See `worker_side.noted`."""
    return {"autocast": precision.NOTED, "default_dtype": str(evaluator.seat.native.root.get_default_dtype())}
