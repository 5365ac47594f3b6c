"""Two rungs that let torch trace first and then run the traced graph on real values: ``export`` and ``make_fx``.

The traced nodes go through the same recorder as an observed call, so views, random draws and constants come out alike.
Both rungs cost seconds, because the tracers import the compiler.
"""

import operator
import re

import torch

from . import calls
from .observed import TORCH, Watch
from .record import Unrecordable


def export(subject, rows):
    """``torch.export``, non-strict, functionalised; composite operators stay whole."""
    watch = Watch(subject, rows)
    with subject.started() as (args, kwargs):
        program = torch.export.export(subject.module, args, kwargs, strict=False)
    program = program.run_decompositions({})
    with subject.started() as (args, kwargs):
        watch.feed(args, kwargs)
        user = iter(torch.utils._pytree.tree_leaves((args, kwargs)))
        values = []
        for spec in program.graph_signature.input_specs:
            if spec.kind.name == "USER_INPUT":
                values.append(next(user))
            else:
                values.append(_held(program, subject.module, spec.target))
        results = _interpret(watch, program.graph, values, None, _exported_place)
        specs = program.graph_signature.output_specs
        outputs = [value for spec, value in zip(specs, results) if spec.kind.name == "USER_OUTPUT"]
        labels = [label for label, _ in subject.tensors_of(subject.call())]
        tensors = [value for value in outputs if isinstance(value, torch.Tensor)]
        return watch.recorder.finish(list(zip(labels, tensors)))


def make_fx(subject, rows):
    """``make_fx`` on real values, functionalised, with module paths by hooks."""
    from torch.fx.experimental.proxy_tensor import make_fx as trace

    watch = Watch(subject, rows)
    places, labels = {}, []
    state = {**dict(subject.module.named_parameters()), **dict(subject.module.named_buffers())}
    kept = torch.fx.Graph.create_node

    def create_node(graph, *args, **kwargs):
        node = kept(graph, *args, **kwargs)
        places[node.name] = watch.where()
        return node

    with subject.started() as (args, kwargs):
        leaves, shape = torch.utils._pytree.tree_flatten((args, kwargs))
        spots = [index for index, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]

        def function(held, given):
            filled = list(leaves)
            for index, tensor in zip(spots, given):
                filled[index] = tensor
            args, kwargs = torch.utils._pytree.tree_unflatten(filled, shape)
            found = subject.tensors_of(torch.func.functional_call(subject.module, held, args, kwargs))
            labels[:] = [label for label, _ in found]
            return [tensor for _, tensor in found]

        given = [leaves[index] for index in spots]
        torch.fx.Graph.create_node = create_node
        try:
            with watch.hooked():
                traced = trace(torch.func.functionalize(function), tracing_mode="real")(state, given)
        finally:
            torch.fx.Graph.create_node = kept
    with subject.started() as (args, kwargs):
        watch.feed(args, kwargs)
        fresh = torch.utils._pytree.tree_leaves((args, kwargs))
        values = list(state.values()) + [fresh[index] for index in spots]
        results = _interpret(watch, traced.graph, values, traced, lambda node: places.get(node.name, ("", "")))
        return watch.recorder.finish(list(zip(labels, results)))


def _interpret(watch, graph, values, holder, place):
    """Run an fx graph on real tensors under the recorder.

    Args:
        watch: its recorder gets the nodes.
        graph: the traced graph.
        values: what the placeholders stand for, in order.
        holder: module that ``get_attr`` reads from.
        place: node -> (module path, source line).
    """
    feed, known = iter(values), {}
    uses = {node: len(node.users) for node in graph.nodes}

    def run(func, args, kwargs):
        return func(*args, **kwargs)

    for node in graph.nodes:
        if node.op == "output":
            return torch.fx.node.map_arg(node.args[0], known.__getitem__)
        if node.op == "placeholder":
            known[node] = next(feed)
        elif node.op == "get_attr":
            known[node] = operator.attrgetter(node.target)(holder)
        else:
            args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), known.__getitem__)
            watch.recorder.where = lambda node=node: place(node)
            if isinstance(node.target, torch._ops.OpOverload):
                known[node] = calls.observe(watch.recorder, node.target, args, kwargs, run, None)
            elif node.target is operator.getitem:
                known[node] = args[0][args[1]]
            else:
                raise Unrecordable("the traced call of %s" % node.target)
        for used in node.all_input_nodes:
            uses[used] -= 1
            if not uses[used]:
                del known[used]
    raise Unrecordable("a traced graph without an output")


def _held(program, module, target):
    """A parameter, buffer or lifted constant: the module's own tensor where it has one."""
    try:
        return operator.attrgetter(target)(module)
    except AttributeError:
        return program.constants[target] if target in program.constants else program.state_dict[target]


def _exported_place(node):
    """(module path, source line) from what export keeps on every node."""
    stack = list((node.meta.get("nn_module_stack") or {}).values())
    frames = re.findall(r'File "([^"]+)", line (\d+)', node.meta.get("stack_trace") or "")
    frames = [frame for frame in frames if not frame[0].startswith((TORCH, "<"))]
    own = [frame for frame in frames if "site-packages" not in frame[0]] or frames
    return (stack[-1][0] if stack else "", "%s:%s" % own[-1] if own else "")
