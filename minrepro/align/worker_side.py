"""The half of align that runs in the workers of both sides: `Worker.call` names this file and one of its functions.

It only loads its siblings in `inside/` as a package of their own, because minrepro is not importable there.
"""

import importlib
import importlib.util
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def _load(name, path, folder=None):
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path, submodule_search_locations=[folder] if folder else None)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


def _inside():
    folder = os.path.join(HERE, "inside")
    package = _load("minrepro_align_inside", os.path.join(folder, "__init__.py"), folder)
    if "torch" in sys.modules and package.CAPTURE is None:
        capture = os.path.join(os.path.dirname(HERE), "capture", "inside")
        package.CAPTURE = _load("minrepro_capture_inside", os.path.join(capture, "__init__.py"), capture)
    package.BUILDING = _load("minrepro_building", os.path.join(os.path.dirname(HERE), "worker", "building.py"))
    return package


def _asked(function, *arguments, part=""):
    """The answer of a function of `inside`, or of one of its modules; {"mistake": facts} for what the user can mend."""
    package = _inside()
    where = importlib.import_module("%s.%s" % (package.__name__, part)) if part else package
    try:
        return getattr(where, function)(*arguments)
    except package.BUILDING.Mistake as mistake:
        return {"mistake": mistake.facts}


def build(evaluator, source, seed=0, train=False, neutral=False, trace=""):
    """Build this side's model.

    Args:
        source: {"file" or "module", "callable", "paths"}.
        seed: given to the builder if it takes one.
        train: leave the model in training mode.
        neutral: autocast contexts do nothing.
        trace: prefix of the files in which every call is noted before it is made; ``""`` for none.

    Returns:
        {"model", "tree", "seconds"}; the tree has one entry per module: path, type, own tensors, methods, settings.
    """
    return _asked("build", evaluator, source, seed, train, neutral, trace)


def given(evaluator, specs=()):
    """Make the reference's inputs and bind them; returns {"tree", "names"}."""
    return _asked("given", evaluator, list(specs))


def taken(evaluator, tree):
    """Take inputs that the host bound in the session, arranged as `tree` says."""
    return _asked("taken", evaluator, tree)


def state(evaluator, bind=True):
    """Every entry of the state dict, as a list of {"key", "name", "shape", "dtype", "owner", "tied", "kind"}.

    With `bind` each value is bound to the variable "name", which keeps its memory when loading gives the entry another.
    """
    return _asked("state", evaluator, bind, part="weights")


def buffers(evaluator):
    """Bind every buffer; returns a list of {"key", "var", "saved"}."""
    return _asked("buffers", evaluator, part="weights")


def converted(evaluator, source, names, turned=()):
    """Run the user's converter on arrays bound as `names` (reference key -> variable).

    Without a converter the arrays are the port's own (port key -> variable), transposed where listed in `turned`.

    Returns:
        {port key: shape} of what was made.
    """
    return _asked("converted", evaluator, source, names, frozenset(turned), part="weights")


def origins(evaluator, keys):
    """Which values of the reference stand in what `converted` made for these keys; see `inside.state.origin`."""
    return _asked("origins", evaluator, list(keys), part="weights")


def exchange(evaluator, moves):
    """Give entries the values of others; with no moves give back what they had.

    Args:
        moves: list of {"key", "source", "turned"}: the entry, the entry whose value it gets, and whether transposed.
    """
    return _asked("exchange", evaluator, list(moves), part="weights")


def expect(evaluator, keys):
    """Note what stands in the entries of the port that are not among these keys, which are going to be loaded."""
    return _asked("expect", evaluator, list(keys), part="weights")


def loaded(evaluator, partners, turned=()):
    """Load what `converted` made, and compare source, given and stored value of each of these entries.

    Args:
        partners: port key -> key of the source it answers to.
        turned: port keys that should be transposed.

    Returns:
        {"entries": {key: {"shape", "given", "stored", "tied", "kind", "twin"}}, "surplus": keys the port does not have}.
    """
    return _asked("loaded", evaluator, partners, frozenset(turned), part="weights")


def untouched(evaluator, partners, turned=()):
    """What loading did to the entries that `expect` noted; returns {"entries"} as `loaded` does."""
    return _asked("untouched", evaluator, partners, frozenset(turned), part="weights")


def warm(evaluator):
    """Call the model once, so that layers which are built by their first call exist; returns its tree anew."""
    return _asked("warm", evaluator)


def watch(evaluator, units):
    """Watch these units. Returns [unit, why] of those refused."""
    return _asked("watch", evaluator, list(units))


def start(evaluator, title, forced=True, unit="", of="", nudge=0):
    """Start a forward; returns its first event.

    Args:
        title: name of the run.
        forced: its values are replaced at the seams.
        unit, of: instead of the whole model run a float64 copy of this unit, in the call whose entry the run `of` shows.
        nudge: seed of a relative noise in such a run, 0 for none.
    """
    return _asked("start", evaluator, title, forced, unit, of, nudge)


def go(evaluator, title, replace=None):
    """Let a forward go on with these variables in place of its values; returns its next event."""
    return _asked("go", evaluator, title, replace)


def stop(evaluator, title):
    """End a forward."""
    return _asked("stop", evaluator, title)


def gradient(evaluator, title, unit, call, wide=False, nudge=0):
    """Gradients of a call that a forward has just left, alone: of its inputs and parameters, for a pinned incoming gradient.

    Nothing if the forward has come much further. With `wide` on a float64 copy of the unit; `nudge` is the seed of a
    relative noise.
    """
    return _asked("gradient", evaluator, title, unit, call, wide, nudge)


def step(evaluator, title, wide=False, nudge=0):
    """Start a forward and backward of the whole model; its last event lists the loss and every parameter's gradient."""
    return _asked("step", evaluator, title, wide, nudge)


def optimise(evaluator, name, given=False):
    """One step of an optimiser (sgd, momentum, adamw), with `given` on what `converted` made; lists the parameters."""
    return _asked("optimise", evaluator, name, given)


def reset(evaluator, arrays=None):
    """Load the initial weights (None), what `converted` made ("made"), or note the weights as the initial ones ("keep")."""
    return _asked("reset", evaluator, arrays)


def failing(evaluator, title):
    """The framework call in which a forward raised, as data; an empty dict if it was none."""
    return _asked("failing", evaluator, title)


def alone(evaluator, title, rows):
    """Capture the call whose entry a forward on torch has just shown, as `capture.worker_side.capture` does a model's."""
    return _asked("alone", evaluator, title, list(rows))


def noted(evaluator):
    """What was noted beside the seams: autocast contexts, default dtype."""
    return _asked("noted", evaluator)


def follow(evaluator, unit, bare=False):
    """Step through this unit from now on; returns {"file", "line", "lines", "name"}, or {"why"} if it has no source.

    With `bare` it is a module that is no unit: nothing is shown at its entry and its exit.
    """
    return _asked("follow", evaluator, unit, bare, part="glue")


def calls(evaluator):
    """What was stepped through: one {"nodes", "outputs", "why"} for each call of the unit."""
    return _asked("calls", evaluator, part="glue")


def values(evaluator, call):
    """Bind the tensors of one call; returns them under "values", with the number of their step."""
    return _asked("values", evaluator, call, part="glue")


def leave(evaluator, unit, bare=False):
    """Run this unit, or bare module, as it is again, and forget what was stepped through."""
    return _asked("leave", evaluator, unit, bare, part="glue")
