"""The weights of one side: what there is, what the converter makes of the reference's, and what loading makes of that."""

import numpy

from . import running
from . import state as state_


def state(evaluator, bind):
    """See `worker_side.state`."""
    seat, entries = evaluator.seat, []
    owners = {path: seat.native.layer(part) for path, part in seat.native.modules(seat.module)}
    for number, (key, tensor, entry) in enumerate(_entries(seat)):
        name, owner = "state%d" % number, owners.get(key.rpartition(".")[0], "")
        if bind:
            evaluator.namespace[name] = tensor.detach()
        entries.append(dict(entry, key=key, name=name, dtype=seat.native.dtype_name(tensor), owner=owner))
    return entries


def buffers(evaluator):
    """See `worker_side.buffers`."""
    seat, entries = evaluator.seat, []
    saved = set(seat.native.state(seat.module))
    for path, part in seat.native.modules(seat.module):
        for name, tensor in part._buffers.items():
            if tensor is not None:
                key, var = running.joined(path, name), "buffer%d" % len(entries)
                evaluator.namespace[var] = tensor.detach()
                entries.append({"key": key, "var": var, "saved": key in saved})
    return entries


def converted(evaluator, source, names, turned):
    """See `worker_side.converted`."""
    seat = evaluator.seat
    arrays = {key: state_.numbers(evaluator.namespace.pop(name)) for key, name in names.items()}
    if source is None:
        made = {key: value.T if key in turned else value for key, value in arrays.items()}
    else:
        convert = seat.building.named(source)
        try:
            made = convert({key: state_.read_only(value) for key, value in arrays.items()})
        except Exception as error:
            raise seat.building.Mistake("raised", stage="convert", **seat.building.blame(error)) from None
        if not isinstance(made, dict):
            raise seat.building.Mistake("convert_result", callable=source["callable"], got=type(made).__name__)
    seat.sources = arrays
    seat.made = {
        str(key): seat.native.array(value) if seat.native.is_tensor(value) else numpy.asarray(value)
        for key, value in made.items()
    }
    return {key: list(value.shape) for key, value in seat.made.items()}


def origins(evaluator, keys):
    """See `worker_side.origins`."""
    seat = evaluator.seat
    found = {key: state_.origin(seat.made[key], seat.sources) for key in keys if key in seat.made}
    return {key: ways for key, ways in found.items() if ways}


def exchange(evaluator, moves):
    """See `worker_side.exchange`."""
    seat = evaluator.seat
    with seat.native.no_grad():
        if seat.exchanged:
            seat.native.load(seat.module, seat.exchanged)
            seat.exchanged = {}
        state = {key: seat.native.array(tensor) for key, tensor in seat.native.state(seat.module).items()}
        values = {move["key"]: state[move["source"]].T if move["turned"] else state[move["source"]] for move in moves}
        seat.exchanged = {key: numpy.array(state[key]) for key in values}
        seat.native.load(seat.module, {key: numpy.array(value) for key, value in values.items()})
    seat.wide = None  # a copy has the weights that it was made with
    return {}


def expect(evaluator, keys):
    """See `worker_side.expect`."""
    seat = evaluator.seat
    state = seat.native.state(seat.module)
    seat.expected = {key: seat.native.array(tensor) for key, tensor in state.items() if key not in set(keys)}
    return {}


def loaded(evaluator, partners, turned):
    """See `worker_side.loaded`."""
    seat = evaluator.seat
    try:
        with seat.native.no_grad():
            seat.native.load(seat.module, seat.made)
    except Exception as error:
        skip = (seat.native.folder,)
        raise seat.building.Mistake("raised", stage="load", **seat.building.blame(error, None, skip)) from None
    found = {}
    for key, tensor, entry in _entries(seat):
        if key not in seat.made:
            continue
        now, due, value = seat.native.seen(tensor), seat.sources.get(partners.get(key)), seat.made.pop(key)
        entry["stored"] = state_.relation(value, now, False, value.strides)
        entry["given"] = "unknown" if due is None else state_.relation(due, value, key in turned)
        entry["contiguous"] = bool(value.flags.c_contiguous)
        if entry["given"] not in ("equal", "turned as due", "unknown"):
            entry["twin"] = state_.twin(due, seat.sources, value, key in turned)
        found[key] = entry
    surplus, seat.made = list(seat.made), {}
    return {"entries": found, "surplus": surplus}


def untouched(evaluator, partners, turned):
    """See `worker_side.untouched`."""
    seat, found = evaluator.seat, {}
    for key, tensor, entry in _entries(seat):
        if key not in seat.expected:
            continue
        now, due = seat.native.seen(tensor), seat.sources.get(partners.get(key))
        entry["stored"] = "untouched" if state_.same(seat.expected[key], now) else "other"
        right = due is not None and state_.same(due.T if key in turned else due, now)
        entry["given"] = "equal all the same" if right else "missing"
        found[key] = entry
    seat.sources, seat.expected = {}, {}
    return {"entries": found}


def _entries(seat):
    """(key, tensor, what is known of it before its values are looked at) of every entry of the state."""
    parameters, seen = {name for name, _ in seat.native.parameters(seat.module)}, {}
    for key, tensor in seat.native.state(seat.module).items():
        tied = seen.get(id(tensor), "")
        kind = "parameter" if key in parameters or tied else "buffer"
        seen.setdefault(id(tensor), key)
        yield key, tensor, {"shape": list(tensor.shape), "tied": tied, "kind": kind}
