"""Torch's own minifier on one planted fault, in the interpreter that has torch.

``python theirs.py FAULT.py`` prints one line of JSON: steps and numbers at the start and at the end, queries, CPU
seconds. The fault is in the candidate only: a query runs the graph as it is, and once more with the faulty functions in
the place of the operators that they stand for; any difference counts.
"""

import importlib.util
import json
import os
import sys
import time

import torch
import torch.nn.functional as F
from torch._functorch.fx_minifier import minifier
from torch.fx.experimental.proxy_tensor import make_fx

HERE = os.path.dirname(os.path.abspath(__file__))


def load(path):
    """Import a file by its path."""
    spec = importlib.util.spec_from_file_location(os.path.splitext(os.path.basename(path))[0], path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Candidate(torch.fx.Interpreter):
    """Runs a graph with the patched functions."""

    def call_function(self, target, args, kwargs):
        if target is torch.ops.aten.gelu.default:
            return F.gelu(*args, **kwargs)
        if target is torch.ops.aten.addmm.default:
            return torch.addmm(*args, **kwargs)
        return super().call_function(target, args, kwargs)


def steps(graph):
    """Number of operators."""
    return sum(node.op == "call_function" for node in graph.nodes)


def main():
    """Trace the model, plant the fault, minify."""
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    model, image = load(os.path.join(HERE, "mixer8.py")).build()
    state = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    names, tensors = list(state), [tensor.detach() for tensor in state.values()]

    def call(image, *tensors):
        return torch.func.functional_call(model, dict(zip(names, tensors)), (image,))

    traced = make_fx(call)(image, *tensors)
    load(sys.argv[1]).install(None)
    queries = [0]

    def fails(module, inputs):
        queries[0] += 1
        good = module(*inputs)
        bad = Candidate(module).run(*inputs)
        pairs = zip(good, bad) if isinstance(good, (tuple, list)) else [(good, bad)]
        return any(not torch.equal(a, b.as_subclass(torch.Tensor)) for a, b in pairs if isinstance(a, torch.Tensor))

    began, wall = time.process_time(), time.perf_counter()
    found, inputs = minifier(traced, [image, *tensors], fails, dump_state=lambda *args, **kwargs: None)
    print(json.dumps({
        "start_steps": steps(traced.graph), "steps": steps(found.graph),
        "numbers": sum(tensor.numel() for tensor in inputs if isinstance(tensor, torch.Tensor)),
        "queries": queries[0], "cpu_s": time.process_time() - began, "wall_s": time.perf_counter() - wall,
        "ops": [str(node.target).replace("aten.", "") for node in found.graph.nodes if node.op == "call_function"],
    }))


if __name__ == "__main__":
    main()
