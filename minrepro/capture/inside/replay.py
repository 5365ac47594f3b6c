"""Does a recording compute what the model computed? Run it operator by operator from its inputs and compare bits."""

import torch

from .encode import decode, references
from .values import difference, same, twin


def run(recording):
    """Execute the nodes in order, without those beside the flow; return the outputs. A value goes after its last use."""
    last, nodes = {}, [node for node in recording.nodes if not node["beside"]]
    for index, node in enumerate(nodes):
        for name in references(list(node["args"].values())):
            last[name] = index
    kept = set(recording.outputs)
    values = {entry["name"]: entry["tensor"].detach() for entry in recording.inputs}
    with torch.no_grad():
        for index, node in enumerate(nodes):
            values.update(zip(node["outputs"], execute(node, values)))
            for name in set(references(list(node["args"].values()))):
                if last[name] == index and name not in kept:
                    del values[name]
    return [values[name] for name in recording.outputs]


def execute(node, values):
    """The results of one node, as a list."""
    func = getattr(getattr(torch.ops.aten, node["op"]), node["overload"])
    args = {key: decode(item, values) for key, item in node["args"].items()}
    for key in writes(node):
        if args.get(key) is not None:
            args[key] = twin(args[key])
    positional, named = [], {}
    for parameter in func._schema.arguments:
        if parameter.name not in args:
            continue
        if parameter.kwarg_only or len(positional) < parameters_before(func, parameter):
            named[parameter.name] = args[parameter.name]
        else:
            positional.append(args[parameter.name])
    result = func(*positional, **named)
    if isinstance(result, torch.Tensor):
        return [result.resolve_conj().resolve_neg()]
    return list(result)


def parameters_before(func, parameter):
    """How many parameters stand before one in the schema; a gap before it forces a keyword."""
    return next(index for index, other in enumerate(func._schema.arguments) if other.name == parameter.name)


def writes(node):
    """Arguments whose tensor the operator writes to; batch norm in training mode does so without saying it."""
    if node["op"] == "batch_norm" and node["args"].get("training"):
        return ["running_mean", "running_var"]
    return [node["writes"]] if node["writes"] else []


def check(recording, expected, subject):
    """Compare the recording's own results with the model's.

    Returns:
        {"exact", "worst" (largest absolute difference), "why"}.
    """
    found = run(recording)
    if len(found) != len(expected):
        return {"exact": False, "worst": float("inf"), "why": "%d outputs, not %d" % (len(found), len(expected))}
    if all(map(same, found, expected)):
        return {"exact": True, "worst": 0.0, "why": ""}
    worst = max(map(difference, found, expected))
    if all(map(same, found, recording.seen)) and not all(map(same, subject.run(), expected)):
        why = "the model gives other results on every call; the replay gives those of the recorded one"
        return {"exact": True, "worst": 0.0, "why": why}
    return {"exact": False, "worst": worst, "why": "the replay differs by up to %.3g" % worst}
