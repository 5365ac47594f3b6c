"""One observed ATen call: decide what it becomes in the recording.

A call is nothing new (it returned its own argument), a view, a plain node, a random draw (which becomes a graph input,
because injected values are the only way to compare frameworks), a write, or something to take apart.
"""

import torch

from . import alias
from .encode import Ref
from .record import Unrecordable
from .values import twin

IGNORED = {"device", "layout", "pin_memory", "memory_format", "non_blocking", "generator"}
"""Arguments that say where and how, never what."""

SILENT = {"detach_", "requires_grad_", "_assert_async", "_assert_tensor_metadata", "record_stream", "_backward"}
"""Calls without an effect on values."""

RESHAPING = {
    "set_", "resize_", "resize_as_", "resize_as_sparse_", "swapaxes_", "swapdims_", "transpose_", "t_", "squeeze_",
    "unsqueeze_", "as_strided_", "rename_",
}
"""Writes to a tensor's shape instead of its values."""

FLASH = "_scaled_dot_product_flash_attention_for_cpu"

FIRST = {"embedding_bag", "_embedding_bag"}
"""Operators whose further results only a backward reads."""

WHOLE = {"lstm", "gru", "rnn_tanh", "rnn_relu"}
"""Composite operators that come apart into kernels of one processor only."""

DRAWS = (
    "rand", "normal", "bernoulli", "uniform", "exponential", "geometric", "cauchy", "log_normal", "multinomial",
    "poisson", "binomial", "_standard_gamma", "_sample_dirichlet",
)
"""How the names of generators begin: their results are drawn, not computed."""

UNSET = {"empty", "empty_like", "new_empty", "empty_strided", "new_empty_strided", "empty_permuted"}
"""Memory without values; the recording fixes it to zeros."""

FILLED = {"new_zeros": "zeros", "new_ones": "ones", "new_full": "full"}

OTHER_DTYPE = {"eq_", "ne_", "lt_", "le_", "gt_", "ge_", "logical_and_", "logical_or_", "logical_xor_", "logical_not_"}
"""Writes whose functional form has another dtype."""


def observe(recorder, func, args, kwargs, run, apart):
    """Run one call and record it.

    Args:
        recorder: where it goes.
        func: the overload, with its schema.
        args, kwargs: as the dispatcher gives them.
        run: ``run(func, args, kwargs)`` executes it without being watched.
        apart: the same with what happens inside being watched; None where that is not possible.
    """
    space, _, name = func._schema.name.partition("::")
    if name in SILENT:
        return run(func, args, kwargs)
    composite = torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), "CompositeImplicitAutograd")
    if space != "aten":
        if composite and apart is not None:
            return apart(func, args, kwargs)
        raise Unrecordable("the operator %s is not one of ATen" % func)
    call = Call(recorder, func, name, args, kwargs)
    if call.random and not name.startswith(DRAWS):
        if composite and apart is not None:
            return apart(func, args, kwargs)
        raise Unrecordable("the random operator %s" % func)
    if composite and apart is not None and call.unspelled:
        return apart(func, args, kwargs)
    return call.written(run) if call.writes else call.plain(run)


class Call:
    """A call with its arguments bound to the schema."""

    def __init__(self, recorder, func, name, args, kwargs):
        self.recorder, self.func, self.name, self.args, self.kwargs = recorder, func, name, args, kwargs
        schema = func._schema
        self.overload = schema.overload_name or "default"
        self.bound, self.defaults = {}, []
        for position, parameter in enumerate(schema.arguments):
            if position < len(args):
                self.bound[parameter.name] = args[position]
            elif parameter.name in kwargs:
                self.bound[parameter.name] = kwargs[parameter.name]
            else:
                self.bound[parameter.name] = parameter.default_value
                self.defaults.append(parameter.name)
        self.writes = [
            p.name for p in schema.arguments
            if p.alias_info is not None and p.alias_info.is_write and self.bound[p.name] is not None
        ]
        self.random = torch.Tag.nondeterministic_seeded in func.tags and not self._settled()
        self.has_row = name in recorder.rows or "%s.%s" % (name, self.overload) in recorder.rows

    @property
    def unspelled(self):
        """True if no backend could spell this call and nothing below rewrites it: better recorded in parts."""
        if not self.recorder.rows or self.has_row or self.random or self.writes or self.name in WHOLE:
            return False
        returned = self.func._schema.returns
        views = bool(returned) and returned[0].alias_info is not None
        return not views and self.name not in UNSET and self.name not in FILLED and self.name != "nonzero_numpy"

    def _settled(self):
        """True if a call that could be random is not: evaluation mode, or a probability of zero."""
        bound = self.bound
        if bound.get("train", bound.get("training", True)) is False:
            return True
        if self.name in WHOLE:
            return bound["dropout"] == 0.0 or bound["num_layers"] == 1
        return bound.get("dropout_p", bound.get("p", None)) == 0.0 and not self.name.startswith(DRAWS)

    def read(self):
        """The arguments as they are recorded."""
        read = self.recorder.read
        return {key: read(item) for key, item in self.bound.items() if key not in IGNORED}

    def tensors(self):
        """The tensors among the arguments."""
        flat = []
        for item in self.bound.values():
            flat += item if isinstance(item, (list, tuple)) else [item]
        return [item for item in flat if isinstance(item, torch.Tensor)]

    # -- calls that only read ----------------------------------------------------------------------------------

    def plain(self, run):
        """Record a call that writes to nothing."""
        args, place = self.read(), self.recorder.where()
        parents = {item.untyped_storage()._cdata: self.recorder.value(item) for item in self.tensors()}
        result = self._attempt(run, args, place)
        if isinstance(result, torch.Tensor) and (result.is_conj() or result.is_neg()):
            # The same memory, to be read in another way: no view that other frameworks have.
            result = result.resolve_conj().resolve_neg()
        several = isinstance(result, (list, tuple))
        leaves = list(result) if several else [result]
        tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
        if any(isinstance(leaf, (list, tuple)) for leaf in leaves):
            raise Unrecordable("the nested result of %s" % self.func)
        if self.name in UNSET:
            result.zero_()
        if not tensors or not several and self.recorder.find(result) in parents.values():
            return result
        if self.random:
            self._drawn(tensors, place)
        elif several:
            self._several(args, leaves, parents, place)
        else:
            self._one(args, result, parents.get(result.untyped_storage()._cdata), place)
        return result

    def _attempt(self, run, args, place):
        """Execute the call. One that torch refuses is a step too, if the model lives with it: all others must refuse it."""
        try:
            return run(self.func, self.args, self.kwargs)
        except (NotImplementedError, MemoryError, torch.OutOfMemoryError):
            raise
        except Exception:
            returned = self.func._schema.returns
            if self.has_row and not self.random and all(str(item.type) == "Tensor" for item in returned):
                self.recorder.emit(
                    self.name, self.overload, args, [None] * len(returned), self._kept_defaults(), place=place, beside=True
                )
            raise

    def _drawn(self, tensors, place):
        for tensor in tensors:
            self.recorder.input(tensor, "random", _draw_key(self.name, place), _draw_key(self.name, place))

    def _one(self, args, result, parent, place):
        view = alias.between(parent, result) if parent is not None else None
        if view is not None and view.op == "alias":
            self.recorder.bind(result, parent.name, parent, view)
            return
        op, overload, args, defaults = self._canonical(args, result, view, parent)
        name = self.recorder.emit(op, overload, args, [result], defaults, place=place)[0]
        self.recorder.bind(result, name, parent, view)

    def _canonical(self, args, result, view, parent):
        """The operator under which a single result is recorded: (op, overload, args, defaults)."""
        if self.name in UNSET or self.name in FILLED and not self.has_row:
            op = FILLED.get(self.name, "zeros")
            filled = {"size": list(result.shape), "dtype": result.dtype}
            if op == "full":
                filled["fill_value"] = args["fill_value"]
            return op, "default", filled, []
        if self.name == "clone" and result.is_contiguous() and not self.bound["self"].is_contiguous():
            # The memory format is not recorded, so the copy that a reshape is made of needs another name.
            return "contiguous", "default", args, []
        if self.name == "to":
            # Of all its forms only the dtype says anything about values.
            if result.dtype == self.bound["self"].dtype:
                return "clone", "default", {"self": args["self"]}, []
            return "to", "dtype", {"self": args["self"], "dtype": result.dtype}, []
        if self.name == "slice" and view is not None and view.op == "slice":
            # Python writes an open end as the largest integer, which other frameworks need not accept.
            args = dict(args, start=view.args["start"], end=view.args["end"])
        if view is not None and not self.has_row and self.recorder.rows:
            return view.op, view.overload, view.filled(Ref(parent.name)), []
        if not self.tensors() and args.get("dtype", 0) is None:
            # A factory follows torch's default dtype; other frameworks have another one.
            return self.name, self.overload, dict(args, dtype=result.dtype), self._kept_defaults("dtype")
        return self.name, self.overload, args, self._kept_defaults()

    def _kept_defaults(self, *without):
        """Arguments that need not be written: those with the schema's default, and a switch that means nothing here."""
        idle = self.defaults + [key for key in ("cudnn_enabled",) if key in self.bound]
        return [key for key in idle if key not in IGNORED and key not in without]

    def _several(self, args, leaves, parents, place):
        op, overload = self.name, self.overload
        if op == FLASH:
            # One processor's kernel of an operator that every framework has.
            op, overload = "scaled_dot_product_attention", "default"
            args = {key: args[key] for key in ("query", "key", "value", "attn_mask", "dropout_p", "is_causal", "scale")}
        if self.name == FLASH or op in FIRST:
            name = self.recorder.emit(op, overload, args, leaves[:1], self._kept_defaults(), place=place)[0]
            self.recorder.bind(leaves[0], name)
            for leaf in leaves[1:]:
                self.recorder.lose(leaf)
            return
        if op == "nonzero_numpy":
            if self.bound["self"].dim() == 0:
                raise Unrecordable("nonzero of a scalar as a tuple")
            width = self.bound["self"].dim()
            spec = _Shape((leaves[0].numel(), width), torch.int64)
            table = self.recorder.emit("nonzero", "default", args, [spec], place=place)[0]
            op, overload, args = "unbind", "int", {"self": Ref(table), "dim": 1}
        results = [leaf if isinstance(leaf, torch.Tensor) else None for leaf in leaves]
        # What returns its own arguments (broadcasting what has one shape already) still is a call of a port.
        idle = all(leaf is not None and self.recorder.find(leaf) in parents.values() for leaf in results)
        names = self.recorder.emit(op, overload, args, results, self._kept_defaults(), place=place, beside=idle)
        for leaf, name in zip(leaves, names):
            if not isinstance(leaf, torch.Tensor) or self.recorder.find(leaf) in parents.values():
                continue
            parent = parents.get(leaf.untyped_storage()._cdata)
            self.recorder.bind(leaf, name, parent, alias.between(parent, leaf) if parent is not None else None)

    # -- calls that write --------------------------------------------------------------------------------------

    def written(self, run):
        """Record a call that writes to one of its arguments."""
        recorder = self.recorder
        if self.name in RESHAPING or len(self.writes) != 1 or not isinstance(self.bound[self.writes[0]], torch.Tensor):
            raise Unrecordable("the write %s" % self.func)
        key = self.writes[0]
        target = self.bound[key]
        value = recorder.guard(target)
        args, place = self.read(), recorder.where()
        shape = target.shape
        result = run(self.func, self.args, self.kwargs)
        if self.random:
            draw = _draw_key(self.name.rstrip("_"), place)
            recorder.write(value, recorder.feed(twin(target), "random", draw, draw))
            return result
        op, overload = self._form(recorder.shared(value), key)
        if (op, overload) == ("fill_", "Tensor") and recorder.is_scalar(self.bound["value"]):
            # x[i] = 7 arrives as a tensor made of the 7.
            overload, args = "Scalar", dict(args, value=self.bound["value"].item())
        if op != self.name and key == "out":
            args = {name: item for name, item in args.items() if name != key}
        if target.shape != shape:
            recorder.bind(target, recorder.emit(op, overload, args, [target], place=place)[0])
            return result
        writes = key if op == self.name else ""
        recorder.write(
            value, recorder.emit(op, overload, args, [target], self._kept_defaults(key), writes, place)[0]
        )
        return result

    def _form(self, shared, key):
        """(op, overload) of a write: the write itself where aliasing matters, else its functional form."""
        functional = self._functional(key)
        if key == "out":
            if functional is None:
                raise Unrecordable("%s without a functional form" % self.func)
            return functional
        rows = self.recorder.rows
        has_functional = functional is not None and (
            not rows or functional[0] in rows or "%s.%s" % functional in rows
        )
        if self.has_row and (shared or not has_functional):
            return self.name, self.overload
        return functional or (self.name, self.overload)

    def _functional(self, key):
        """The overload that computes the same without writing, or None."""
        target = self.bound[key]
        same_dtype = all(item.dtype in (target.dtype, torch.bool, torch.int64) for item in self.tensors())
        if self.name in OTHER_DTYPE or self.name == "copy_" and self.recorder.rows or not same_dtype:
            return None
        packet = getattr(torch.ops.aten, self.name[:-1] if key != "out" else self.name, None)
        if packet is None:
            return None
        wanted = [name for name in self.bound if name != "out"]
        preferred = [self.overload] + packet.overloads()
        for overload in preferred:
            found = getattr(packet, overload, None)
            if found is None:
                continue
            schema = found._schema
            names = [argument.name for argument in schema.arguments]
            kinds = {a.name: str(a.type) for a in schema.arguments}
            own = {a.name: str(a.type) for a in self.func._schema.arguments}
            if names == wanted and all(kinds[n] == own[n] for n in names) and not any(
                a.alias_info is not None and a.alias_info.is_write for a in schema.arguments
            ):
                return packet._qualified_op_name.split("::")[1], overload
        return None


class _Shape:
    """A result that no tensor object stands for, with what `describe` asks of one."""

    def __init__(self, shape, dtype):
        self.shape, self.dtype = shape, dtype

    def stride(self):
        """The strides that `nonzero` gives its table: one column after the other."""
        return (1, self.shape[0])


def _draw_key(name, place):
    return "%s.%s" % (place[0], name) if place[0] else name


