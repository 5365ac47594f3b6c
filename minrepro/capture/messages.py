"""What the worker found wrong, as sentences that name the module and line and say what to do next."""

from __future__ import annotations

from typing import Any, Callable, Mapping

from minrepro.capture.decode import shorten

STAGES = {
    "import": "importing the {what}", "build": "building the {what}", "forward": "the {what}'s forward",
    "convert": "the converter", "load": "loading the converted weights",
}
AFTER = {
    "convert": "It is called with {key: array} of the reference's state, and has to return {key: array} for the port. "
    "What it is given is read-only: copy before you write.",
    "load": "The port has to take arrays of these shapes and dtypes: build it in the reference's dtype, or give --convert.",
}
"""Stage -> what to do about it, where it is not the model's own run that failed."""


def message(model: str, facts: Mapping[str, Any]) -> str:
    """The sentence for a mistake.

    Args:
        model: what the user asked for.
        facts: the worker's description; `kind` says which, `what` that it is a ``port`` or ``converter`` and no ``model``.
    """
    return _KINDS[facts["kind"]](model, facts)


def _raised(model: str, facts: Mapping[str, Any]) -> str:
    place = f" at {shorten(facts['file'] + ':' + str(facts['line']))}" if facts["file"] else " in the framework itself"
    place = "" if facts["stage"] == "convert" and not facts["file"] else place
    path = f" in module {facts['path'] or 'root'!r} ({facts['owner']})" if facts["owner"] else ""
    what = facts.get("what", "model")
    return (
        f"{model}: {STAGES[facts['stage']].format(what=what)} raised {facts['error']}{path}{place}: {facts['message']}\n"
        f"{AFTER.get(facts['stage'], f'The {what} has to run on its own first.')}"
    )


def _no_callable(model: str, facts: Mapping[str, Any]) -> str:
    hint = f" Did you mean {facts['close'][0]!r}?" if facts["close"] else ""
    what = f"the {facts['what']} " if "what" in facts else ""
    return (
        f"{what}{model}: {facts['where']} has no callable {facts['callable']!r}.{hint} "
        f"It has: {', '.join(facts['known']) or 'none'}."
    )


def _no_module(model: str, facts: Mapping[str, Any]) -> str:
    return (
        f"{model}: {facts['callable']!r} returned a {facts['got']}; "
        f"expected a {facts.get('expected', 'torch.nn.Module')}, or a tuple (module, inputs)."
    )


def _arguments(model: str, facts: Mapping[str, Any]) -> str:
    return (
        f"{model}: the callable needs {', '.join(facts['needed'])}, and only 'seed' is passed. "
        "Wrap it in a function without arguments."
    )


def _inputs_missing(model: str, facts: Mapping[str, Any]) -> str:
    example = " ".join(f"--input '{spec}'" for spec in facts["example"])
    return (
        f"{model}: {facts['forward']} needs inputs and none were given. "
        f"Return (module, inputs) from the callable, or add them, for example {example}"
    )


def _inputs_wrong(model: str, facts: Mapping[str, Any]) -> str:
    return (
        f"{model}: the inputs do not fit {facts['forward']}: {facts['message']}. {facts.get('contents', '')}".rstrip()
        + " Name them with --input NAME=..., or wrap the model in one that takes them."
    )


def _convert_result(model: str, facts: Mapping[str, Any]) -> str:
    return f"{model}: the converter {facts['callable']!r} returned {facts['got']}; expected a dict {{key of the port: array}}."


def _input_file(model: str, facts: Mapping[str, Any]) -> str:
    known = f" It has: {', '.join(facts['known'])}." if facts["known"] else ""
    return f"{model}: cannot read the input file {facts['file']}: {facts['message']}.{known}"


def _nan(model: str, facts: Mapping[str, Any]) -> str:
    return (
        f"{model}: {len(facts['entries'])} of its weights hold NaN, so every comparison would be void: "
        f"{', '.join(facts['entries'][:8])}. Load other weights, or fill these."
    )


def _no_tensors(model: str, facts: Mapping[str, Any]) -> str:
    return f"{model}: the forward returned a {facts['got']} without any tensor in it, so there is nothing to compare."


def _unrecordable(model: str, facts: Mapping[str, Any]) -> str:
    tried = "\n".join(f"  {failure['rung']}: {failure['why']}" for failure in facts["failures"])
    return f"{model}: no way of capturing it worked:\n{tried}"


def _unfaithful(model: str, facts: Mapping[str, Any]) -> str:
    tried = "\n".join(f"  {failure['rung']}: {failure['why']}" for failure in facts["failures"])
    return f"{model}: it was captured, but no captured graph computes what the model does:\n{tried}"


_KINDS: dict[str, Callable[[str, Mapping[str, Any]], str]] = {
    "raised": _raised,
    "no_callable": _no_callable,
    "no_module": _no_module,
    "arguments": _arguments,
    "inputs_missing": _inputs_missing,
    "inputs_wrong": _inputs_wrong,
    "convert_result": _convert_result,
    "input_file": _input_file,
    "nan": _nan,
    "no_tensors": _no_tensors,
    "unrecordable": _unrecordable,
    "unfaithful": _unfaithful,
}
