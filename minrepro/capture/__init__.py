"""Capture: one call of a torch model as a graph of ATen operators, checked to give the model's own outputs.

The work happens in the torch worker (`worker_side`), because the host never imports a framework. Weights stay there:
every graph input is bound in the worker's session under its name, and only descriptions travel.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Mapping

import msgspec

from minrepro import ops
from minrepro.capture import decode, messages
from minrepro.capture.inputs import parse
from minrepro.capture.source import resolve
from minrepro.errors import CaptureError, InternalError, SessionLost, UsageError
from minrepro.ir.graph import Graph
from minrepro.ir.outcome import Completed, Crashed, Raised, TimedOut, Unspelled, from_outside
from minrepro.ir.tensor import TensorSpec
from minrepro.worker.client import Worker

__all__ = ["KINDS", "RUNGS", "Captured", "StateEntry", "capture", "resolve"]

WORKER_SIDE = Path(__file__).with_name("worker_side.py")
RUNGS = ("auto", "log", "export", "make_fx", "dispatch")
KINDS = ("input", "parameter", "buffer", "constant", "random")


class StateEntry(msgspec.Struct, frozen=True):
    """One entry of the model's state dict.

    Attributes:
        key: its key.
        name: the variable of the session that holds it; the graph input's name if it is one.
        shape, dtype, strides: of the tensor as the model holds it, strides in elements.
        contiguous: in C order.
        turned: it shares its memory, transposed, with an entry before it (a tied weight).
    """

    key: str
    name: str
    shape: tuple[int, ...]
    dtype: str
    strides: tuple[int, ...]
    contiguous: bool
    turned: bool = False

    @property
    def spec(self) -> TensorSpec:
        """Shape, dtype and layout."""
        return TensorSpec(self.shape, self.dtype, decode.layout_of(self.shape, self.strides))


class Captured(msgspec.Struct, frozen=True):
    """A captured call.

    Attributes:
        graph: the program; its inputs are bound in the worker's session.
        specs: spec of every value of the program, fed or computed.
        kinds: graph input -> one of `KINDS`.
        keys: graph input -> state key, parameter of forward, or name of the draw.
        labels: where in the model's result each graph output stood.
        rung: how it was captured.
        replay_exact: the graph, run operator by operator, gives the model's outputs bit for bit.
        replay_worst: largest absolute difference otherwise.
        remark: what to know about the replay, or ``""``.
        failures: (rung, reason) of the rungs that were tried before.
        model: class of the model.
        parameters: number of parameters.
        parameter_bytes: their size.
        seconds: ``build``, ``forward``, ``capture``, ``replay``.
        state: the entries of the state dict.
    """

    graph: Graph
    specs: Mapping[str, TensorSpec]
    kinds: Mapping[str, str]
    keys: Mapping[str, str]
    labels: tuple[str, ...]
    rung: str
    replay_exact: bool
    replay_worst: float
    remark: str
    failures: tuple[tuple[str, str], ...]
    model: str
    parameters: int
    parameter_bytes: int
    seconds: Mapping[str, float]
    state: tuple[StateEntry, ...]


def capture(
    worker: Worker,
    model: str,
    inputs: tuple[str, ...] = (),
    seed: int = 0,
    rung: str = "auto",
    train: bool = False,
    deadline: float = 600.0,
) -> Captured:
    """Capture one call of a model; the worker's session stays open with every graph input bound.

    Args:
        worker: a torch worker.
        model: zoo name, ``file.py:callable`` or ``package.module:callable``.
        inputs: input specs; they replace the inputs that the callable gives.
        seed: seed of the model, its inputs and its draws.
        rung: one of `RUNGS`.
        train: leave the model in training mode.
        deadline: seconds for all of it.

    Raises:
        UsageError: for an unknown model, rung or input spec.
        CaptureError: if the model cannot be built, called or captured.
    """
    if rung not in RUNGS:
        raise UsageError(f"unknown rung {rung!r}; expected one of {', '.join(RUNGS)}")
    source, specs = resolve(model), parse(inputs)
    worker.open()
    reply = _ask(
        worker, model, "capture", deadline,
        source=source, inputs=specs, seed=seed, rung=rung, train=train, rows=list(ops.table()),
    )
    if "error" in reply:
        worker.close()
        raise CaptureError(messages.message(model, reply["error"]))
    captured = read(reply, _ask(worker, model, "state", deadline))
    if not captured.graph.nodes:
        worker.close()
        raise CaptureError(f"{model}: the model does nothing: its outputs are its inputs; there is no step to compare.")
    return captured


def _ask(worker: Worker, model: str, function: str, deadline: float, **arguments: Any) -> Any:
    """Call the worker's side; whatever is not an answer becomes an exception."""
    reply = worker.call(WORKER_SIDE, function, deadline, **arguments)
    if isinstance(reply, Crashed) and from_outside(reply):
        raise SessionLost(f"{model}: its process was ended from outside ({reply.signal}) while it was captured")
    if isinstance(reply, (Crashed, TimedOut)):
        how = f"was stopped after {reply.seconds:.0f} s" if isinstance(reply, TimedOut) else f"died ({reply.signal})"
        raise CaptureError(f"{model}: its process {how} while it was captured.\n{worker.tail()}".rstrip())
    if isinstance(reply, (Raised, Completed, Unspelled)):
        raise InternalError(f"capturing {model} failed in the worker: {reply}")
    return reply


def read(reply: Mapping[str, Any], state: list[dict[str, Any]]) -> Captured:
    """What the worker's side answered, as data that was checked.

    Args:
        reply: of ``capture``.
        state: of ``state``.
    """
    graph = decode.graph(reply)
    fault = graph.lint()
    if fault is not None:
        raise InternalError(f"the captured graph is malformed: {fault}")
    return Captured(
        graph=graph,
        specs=decode.specs(reply),
        kinds={entry["name"]: entry["kind"] for entry in reply["inputs"]},
        keys={entry["name"]: entry["key"] for entry in reply["inputs"]},
        labels=tuple(reply["labels"]),
        rung=reply["rung"],
        replay_exact=reply["replay"]["exact"],
        replay_worst=reply["replay"]["worst"],
        remark=reply["replay"]["why"],
        failures=tuple((failure["rung"], failure["why"]) for failure in reply["failures"]),
        model=reply["model"],
        parameters=reply["parameters"],
        parameter_bytes=reply["bytes"],
        seconds=reply["seconds"],
        state=tuple(msgspec.convert(entry, StateEntry) for entry in state),
    )
