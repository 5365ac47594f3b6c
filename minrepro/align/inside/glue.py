"""One unit stepped through during a forward: every inner value of the user's own code, with the text that made it.

The unit's method is replaced by one that carries out the same source step by step, behind the same seams; each of its
calls leaves a list of steps here.
"""

import functools
import inspect

from . import running, trees
from .recorder import Recorder, Unfollowed
from .stepping import Stepper, parsed


def follow(evaluator, unit, bare):
    """See `worker_side.follow`."""
    seat = evaluator.seat
    path, _, method = unit.partition("::")
    method = method or "forward"
    part = dict(seat.native.modules(seat.module))[path]
    original = inspect.unwrap(getattr(type(part), method))
    seat.followed = []
    try:
        tree, first = parsed(original)
    except Unfollowed as error:
        return {"why": str(error)}
    lines = inspect.getsource(original).count("\n")
    paths = {id(module): name for name, module in seat.native.modules(seat.module)}

    @functools.wraps(original.__get__(part))
    def stepped(*args, **kwargs):
        return _recorded(seat, paths, original, part, args, kwargs)

    if bare:
        object.__setattr__(part, method, stepped)
        return {}
    object.__setattr__(part, method, running._wrapper(unit, stepped))
    part.__dict__.setdefault(running.MARK, {}).setdefault(method, None)
    return {"file": original.__code__.co_filename, "line": first, "lines": lines, "name": original.__qualname__}


def _recorded(seat, paths, original, part, args, kwargs):
    """One call, stepped through; its record is kept whatever comes of it."""
    recorder = Recorder(seat.native)
    record = {"recorder": recorder, "outputs": [], "why": "", "call": len(seat.followed)}
    seat.followed.append(record)
    names = list(inspect.signature(original).parameters)[1:]
    boxes = [recorder.of(value, names[i] if i < len(names) else "x") for i, value in enumerate(args)]
    keyed = {key: recorder.of(value, key) for key, value in kwargs.items()}
    try:
        stepper = Stepper(seat.native, recorder, paths)
        result = stepper.function(original, [recorder.of(part), *boxes], keyed)
    except Unfollowed as error:
        record["why"] = str(error)
        raise
    record["outputs"] = [recorder.of(leaf).node for _, leaf in trees.leaves(result.value, seat.native.is_value)]
    return result.value


def calls(evaluator):
    """See `worker_side.calls`."""
    found = []
    for record in evaluator.seat.followed:
        nodes = record["recorder"].nodes
        found.append({"nodes": nodes, "outputs": record["outputs"], "why": record["why"]})
    return found


def values(evaluator, call):
    """See `worker_side.values`."""
    recorder = evaluator.seat.followed[call]["recorder"]
    listed = []
    for number, value in enumerate(recorder.values):
        if value is not None:
            name = "glue_%d" % number
            evaluator.namespace[name] = value
            listed.append({"var": name, "number": number})
    return {"values": listed}


def leave(evaluator, unit, bare):
    """See `worker_side.leave`."""
    seat = evaluator.seat
    path, _, method = unit.partition("::")
    part, method = dict(seat.native.modules(seat.module))[path], method or "forward"
    own = None if bare else part.__dict__.get(running.MARK, {}).pop(method, None)
    part.__dict__.pop(method, None)
    if own is not None:
        part.__dict__[method] = own
    if not bare:
        running.wrap(seat.native, seat.module, [unit])
    for record in seat.followed:
        for number in range(len(record["recorder"].values)):
            evaluator.namespace.pop("glue_%d" % number, None)
    seat.followed = []
    return {}
