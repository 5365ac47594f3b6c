"""The half of the capture that runs in the torch worker: `Worker.call` names this file and one of its functions.

It only loads its siblings in `inside/` as a package of their own, because minrepro is not importable there.
"""

import importlib.util
import os
import sys


def _inside():
    name = "minrepro_capture_inside"
    if name not in sys.modules:
        folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "inside")
        spec = importlib.util.spec_from_file_location(
            name, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
        )
        package = importlib.util.module_from_spec(spec)
        sys.modules[name] = package
        spec.loader.exec_module(package)
    return sys.modules[name]


def capture(evaluator, source, inputs=(), seed=0, rung="auto", train=False, rows=()):
    """Build a model, record one call of it, and bind every graph input in the session.

    Args:
        evaluator: the session; its `namespace` gets one variable per graph input.
        source: where the model is: {"file", "callable", "paths"} or {"module", "callable", "paths"}.
        inputs: parsed input specs (`capture.inputs`).
        seed: seed of the model, its inputs and everything random in its forward.
        rung: ``auto`` or one of the ladder.
        train: leave the model in training mode.
        rows: operator names that have a row; composite operators without one are taken apart.

    Returns:
        The capture as JSON, or {"error": {...}} where the user can mend something.
    """
    return _inside().capture(evaluator, source, list(inputs), seed, rung, train, frozenset(rows))


def state(evaluator):
    """The entries of the captured model's state dict, each bound in the session.

    Returns:
        A list of {"key", "name", "shape", "dtype", "strides", "contiguous", "turned"}.
    """
    return _inside().state(evaluator)
