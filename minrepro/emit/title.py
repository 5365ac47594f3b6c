"""What is wrong, in one line: the API as its users write it, the symptom, and the condition that triggers it."""

from __future__ import annotations

import ast
import re

import numpy as np

from minrepro.backends.gradient import middle
from minrepro.emit.parts import Parts
from minrepro.ir.dtype import to_float64
from minrepro.ir.graph import Node
from minrepro.ir.outcome import Crashed, Raised
from minrepro.ir.tensor import CONTIGUOUS, Expand, Permute, Tensor
from minrepro.ops.gradient import forward, is_gradient, orders

SYMPTOMS = {
    "value": "gives wrong values", "shape": "gives the wrong shape", "dtype": "gives the wrong dtype",
    "structure": "gives the wrong number of outputs", "accepted": "accepts what it should refuse",
    "hang": "never returns",
}

ADAPTERS = {f"Tensor.{method}" for method in ("squeeze", "unsqueeze", "astype", "to", "item")}
"""Methods around a call that only fit its arguments or result; it is named after the call."""


def title(parts: Parts) -> str:
    """For example ``OneFlow: Tensor.fill_ gives wrong values on a view with steps``."""
    often = "sometimes" if parts.finding.rate is not None else ""
    words = [f"{parts.backend.title}:", " then ".join(apis(parts)), often, _symptom(parts), _condition(parts)]
    return re.sub(r"[\"\\]", "'", " ".join(word for word in words if word))


def apis(parts: Parts) -> list[str]:
    """The public names that the steps call, without repetition."""
    roots = dict(parts.backend.imports)
    found = [_called(step.lines, node, roots) for step, node in zip(parts.program.steps, parts.case.graph.nodes)]
    return list(dict.fromkeys(found))


def _called(lines: tuple[str, ...], node: Node, roots: dict[str, str]) -> str:
    if not is_gradient(node.op):
        return _api(lines, roots) or node.op
    chain = orders(node)
    way = "backward" if len(chain) == 1 else "double backward"
    return f"{way} of {_called(middle(node, lines), forward(chain[0]), roots)}"


def _api(lines: tuple[str, ...], roots: dict[str, str]) -> str:
    body = ast.parse("\n".join(lines)).body
    calls = [node for statement in body for node in ast.walk(statement) if isinstance(node, ast.Call)]
    names = [name for call in calls if (name := _dotted(call.func, roots))]
    last = body[-1]
    value = last.value if isinstance(last, ast.Assign) else None
    if isinstance(value, ast.Subscript) and not isinstance(value.value, ast.Call):
        return "indexing"
    if any(isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Subscript) for part in body):
        return "index assignment"
    if not names and value is not None and len(text := ast.unparse(value)) < 40:
        return f"`{text}`"
    # Loading reads best as the call that loads, wherever it stands in its block.
    loads = [name for name in names if "state_dict" in name]
    main = [name for name in names if name not in ADAPTERS]
    return (loads or main or names or [""])[0]


def _dotted(func: ast.expr, roots: dict[str, str]) -> str:
    parts: list[str] = []
    while isinstance(func, ast.Attribute):
        parts.insert(0, func.attr)
        func = func.value
    if isinstance(func, ast.Name) and func.id in roots:
        return ".".join([re.sub(r"import (\S+)( as \w+)?", r"\1", roots[func.id]), *parts])
    if parts and parts[-1].endswith("state_dict"):
        return f"{'Layer' if 'set_' in parts[-1] else 'Module'}.{parts[-1]}"
    return f"Tensor.{parts[-1]}" if parts else ""


def _symptom(parts: Parts) -> str:
    outcome, divergence = parts.finding.outcome, parts.finding.divergence
    if isinstance(outcome, Raised):
        return f"raises {outcome.kind}"
    if isinstance(outcome, Crashed):
        return f"ends the process ({outcome.signal})"
    if divergence.symptom == "nonfinite":
        wrong = divergence.reference if parts.finding.side == "reference" else divergence.candidate
        return f"gives {wrong}" if wrong else "gives a non-finite value"
    if divergence.symptom == "structure" and parts.case.mode in ("backward", "second"):
        return f"gives {divergence.reference if parts.finding.side == 'reference' else divergence.candidate}"
    return SYMPTOMS[divergence.symptom]


def _condition(parts: Parts) -> str:
    feeds = [parts.case.feeds[name] for name in parts.case.graph.inputs]
    found = [word for feed in feeds for word in (_layout(feed), _content(feed)) if word]
    dtypes = {feed.dtype.name for feed in feeds[:1]} - {"float32"}
    return " ".join([*(f"for {name}" for name in dtypes), *dict.fromkeys(found)][:2])


def _layout(tensor: Tensor) -> str:
    if tensor.layout == CONTIGUOUS:
        return ""
    links = tensor.layout.links
    if all(isinstance(link, Permute) for link in links):
        return "for a transposed view" if links[-1].order == (1, 0) else "for a permuted view"
    return "for a broadcast view" if any(isinstance(link, Expand) for link in links) else "for a strided view"


def _content(tensor: Tensor) -> str:
    if tensor.size == 0:
        return "for an empty tensor"
    values = to_float64(tensor.view, tensor.dtype)
    if np.isnan(values).any():
        return "for nan"
    return "for infinity" if tensor.dtype.inexact and (abs(values) == float("inf")).any() else ""
