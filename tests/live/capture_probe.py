"""Functions that a test calls inside the torch worker to look at what stays there."""

import importlib.util

import numpy
import torch


def tampered(evaluator, worker_side, source, op, argument, value):
    """Record a model, change one argument of one node, and return what the replay check says before and after."""
    spec = importlib.util.spec_from_file_location("minrepro_worker_side", worker_side)
    side = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(side)
    inside = side._inside()
    subject = inside.model.load(source, [], 0, False)
    expected = subject.run()
    recording = inside.observed.log(subject, frozenset())
    before = inside.replay.check(recording, expected, subject)
    next(node for node in recording.nodes if node["op"] == op)["args"][argument] = value
    return before, inside.replay.check(recording, expected, subject)


def bound(evaluator, names):
    """Shape, dtype and strides of variables of the session."""
    found = []
    for name in names:
        value = evaluator.namespace[name]
        found.append([list(value.shape), str(value.dtype), list(value.stride())])
    return found


def values(evaluator, name):
    """The values of a variable as nested lists."""
    value = evaluator.namespace[name]
    return value.tolist() if isinstance(value, (torch.Tensor, numpy.ndarray)) else value
