"""Capture inside the worker: build the model, climb down the ladder until a recording replays exactly.

Valid Python 3.8, imports nothing of minrepro. `model` builds and calls, `record` keeps the data flow, `observed` and
`traced` are the rungs, `replay` checks them, `encode` is the wire form.
"""

import time

import torch

from . import encode, model, observed, replay, traced, values

LADDER = {
    "log": observed.log,
    "export": traced.export,
    "make_fx": traced.make_fx,
    "dispatch": observed.dispatch,
}
"""Cheapest and closest to the user's call first; each rung raises `Unrecordable` for what it cannot express."""

FAITHFUL = 0.01
"""A replay that is further off than this part of the model's largest output is of another program."""


def capture(evaluator, source, inputs, seed, rung, train, rows):
    """See `worker_side.capture`."""
    try:
        subject = model.load(source, inputs, seed, train)
        return _climb(evaluator, subject, rung, rows)
    except model.Mistake as mistake:
        return {"error": mistake.facts}


def state(evaluator):
    """See `worker_side.state`."""
    subject = evaluator.captured
    names = encode.Names(evaluator.namespace)
    entries, places = [], set()
    for key, tensor in subject.module.state_dict(keep_vars=True).items():
        if not isinstance(tensor, torch.Tensor):
            continue
        name = subject.bound.get(id(tensor)) or names.new(key)
        evaluator.namespace[name] = tensor.detach()
        turned = tensor.dim() == 2 and min(tensor.shape) > 1 and _place(tensor.t()) in places
        places.add(_place(tensor))
        described = encode.describe(tensor)
        entries.append(dict(described, key=key, name=name, contiguous=tensor.is_contiguous(), turned=turned))
    return entries


def _place(tensor):
    """Which memory a tensor shows, and how."""
    return tensor.untyped_storage().data_ptr(), tensor.storage_offset(), tuple(tensor.shape), tensor.stride()


def _climb(evaluator, subject, rung, rows):
    """Try the rungs in order; the first that replays to the model's own outputs wins."""
    start = time.perf_counter()
    expected = subject.run()
    subject.seconds["forward"] = time.perf_counter() - start
    failures, best = [], None
    for name in LADDER if rung == "auto" else [rung]:
        start = time.perf_counter()
        try:
            recording = LADDER[name](subject, rows)
            middle = time.perf_counter()
            verdict = replay.check(recording, expected, subject)
        except model.Mistake:
            raise
        except Exception as error:
            failures.append({"rung": name, "why": "%s: %s" % (type(error).__name__, str(error)[:600])})
            continue
        seconds = {"capture": middle - start, "replay": time.perf_counter() - middle}
        answer = (verdict["worst"], name, recording, verdict, seconds)
        if verdict["exact"]:
            return _finish(evaluator, subject, answer, failures)
        failures.append({"rung": name, "why": verdict["why"]})
        best = answer if best is None or answer[0] < best[0] else best
    if best is None:
        raise model.Mistake("unrecordable", failures=failures)
    if best[0] > FAITHFUL * max(map(values.largest, expected)):
        raise model.Mistake("unfaithful", failures=failures)
    return _finish(evaluator, subject, best, failures)


def _finish(evaluator, subject, answer, failures):
    """Bind the graph inputs in the session and describe the recording."""
    _, name, recording, verdict, seconds = answer
    subject.seconds.update(seconds)
    for entry in recording.inputs:
        evaluator.namespace[entry["name"]] = entry["tensor"].detach()
        subject.bound[id(entry["tensor"])] = entry["name"]
    evaluator.captured = subject
    return {
        "rung": name,
        "model": subject.title,
        "nodes": recording.nodes,
        "inputs": [
            dict(encode.describe(entry["tensor"]), **{key: entry[key] for key in ("name", "kind", "key")})
            for entry in recording.inputs
        ],
        "outputs": recording.outputs,
        "labels": recording.labels,
        "replay": verdict,
        "failures": failures,
        "parameters": sum(p.numel() for p in subject.module.parameters()),
        "bytes": sum(p.numel() * p.element_size() for p in subject.module.parameters()),
        "state_entries": list(subject.module.state_dict()),
        "seconds": subject.seconds,
    }
