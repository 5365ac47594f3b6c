"""Emitted scripts on real wheels: they show their bug alone, and nothing where there is none."""

from __future__ import annotations

import json

import numpy as np
import pytest

from minrepro import backends, replays
from minrepro.emit import emit, literal
from minrepro.ir.dtype import dtype, from_float64
from minrepro.ir.tensor import Expand, Layout, Permute, Slice, Strided, Tensor
from minrepro.verify import rerun, verify
from tests.findings import FINDINGS

REAL = (
    "paddle_index", "paddle_mask", "paddle_logsumexp", "oneflow_fill", "oneflow_greater", "oneflow_negate",
    "oneflow_var", "oneflow_divide", "oneflow_argsort", "torch_ndtr",
)


@pytest.mark.parametrize("name", REAL)
def test_a_real_bug_is_shown_by_its_script_alone(name, python_of, tmp_path):
    finding = FINDINGS[name]
    verified = verify(emit(finding, tmp_path), finding, python_of(name.partition("_")[0]), runs=2)
    assert verified.ok and verified.statuses == (1, 1), verified.output


@pytest.mark.parametrize("name", ["torch_copy", "paddle_copy", "oneflow_copy"])
def test_a_replayed_bug_is_shown_under_the_replay_only(name, python_of, tmp_path):
    finding = FINDINGS[name]
    verified = verify(
        emit(finding, tmp_path), finding, python_of(name.partition("_")[0]), replay_file=replays.find("flat-copy").path
    )
    assert verified.ok and verified.statuses == (1, 1, 1) and verified.without_replay == 0, verified.output


@pytest.mark.parametrize("name", ["torch_hang", "torch_bfloat16", "torch_broadcast"])
def test_a_bug_that_is_not_there_is_not_reported(name, python_of, tmp_path):
    finding = FINDINGS[name]
    verified = verify(emit(finding, tmp_path), finding, python_of("torch"), runs=1)
    assert not verified.ok and verified.statuses == (0,)


PLANTED = {
    "hang": "import time\ndef install(backend):\n    import torch.nn.functional as F\n"
    "    F.relu = lambda x: time.sleep(1000)\n",
    "crash": "def install(backend):\n    import os, torch.nn.functional as F\n    F.relu = lambda x: os.abort()\n",
    "error": "def install(backend):\n    import torch.nn.functional as F\n    F.relu = lambda x: x.no_such_thing\n",
}


def test_a_hang_is_ended_and_shown(python_of, tmp_path):
    fault = tmp_path / "fault.py"
    fault.write_text(PLANTED["hang"])
    finding = FINDINGS["torch_hang"]
    verified = verify(emit(finding, tmp_path), finding, python_of("torch"), runs=1, replay_file=fault)
    assert verified.ok, verified.output


@pytest.mark.parametrize("fault", ["crash", "error"])
def test_another_failure_than_the_finding_does_not_count(fault, python_of, tmp_path):
    path = tmp_path / "fault.py"
    path.write_text(PLANTED[fault])
    finding = FINDINGS["torch_hang"]
    verified = verify(emit(finding, tmp_path), finding, python_of("torch"), runs=1, replay_file=path)
    assert not verified.ok and verified.statuses == (125,)


def test_a_framework_that_is_missing_is_neither_there_nor_gone(python_of, tmp_path):
    text = emit(FINDINGS["paddle_index"], tmp_path).text
    assert rerun(text, backends.table()["paddle"], python_of("oneflow")).status == 125


LAYOUTS = (
    Layout(),
    Layout((Permute((1, 0)),)),
    Layout((Slice(1, 1, 2, 2, 4),)),
    Layout((Slice(0, 0, 2, 2, 3), Permute((1, 0)))),
    Layout((Slice(0, 1, 1, 1, 3), Expand(0, 2))),
    Layout((Strided((2, 3), (2, 1), 1),)),
)
CHECK = """
import json, importlib.util
spec = importlib.util.spec_from_file_location("backend_file", {path!r})
backend = importlib.util.module_from_spec(spec); spec.loader.exec_module(backend)
import numpy as np
from math import inf, nan
{imports}
for lines in {programs!r}:
    space = dict(globals()); exec(lines, space)
    flat, name, shape, strides, offset = backend.to_memory(space["x"])
    item = np.dtype("uint16" if name == "bfloat16" else name).itemsize
    view = np.lib.stride_tricks.as_strided(flat[offset:], shape, [s * item for s in strides])
    print(json.dumps([name, list(shape), list(strides), np.ascontiguousarray(view).tobytes().hex()]))
"""


@pytest.mark.parametrize("name", ["torch", "paddle", "oneflow"])
def test_literals_rebuild_bits_and_strides(name, python_of):
    backend = backends.table()[name]
    values = np.array([[0.1, -2.5, 3e-5, 7.0], [-0.0, np.inf, -np.inf, 1.0], [65504.0, 1e-7, 2.0, -3.0]])
    tensors = []
    for kind in backend.dtypes:
        of = dtype(kind)
        whole = (np.arange(12).reshape(3, 4) % 5).astype(of.storage)
        data = from_float64(values, of) if of.kind == "float" else whole
        tensors += [Tensor(data, of, layout) for layout in LAYOUTS]
        tensors += [Tensor(np.full((3, 4), 2, of.storage), of), Tensor(np.arange(12).astype(of.storage) * 0, of)]
    tensors += [Tensor(np.arange(600, dtype=np.float32).reshape(20, 30) / 7), Tensor(np.arange(12.0).reshape(3, 4))]
    tensors += [Tensor(np.arange(1, 9, dtype=np.float32)), Tensor(np.zeros((2, 0), np.float32))]
    programs = ["\n".join(literal.assignment("x", tensor, backend)) for tensor in tensors]
    text = CHECK.format(path=backend.path, imports="\n".join(backend.imports.values()), programs=programs)
    done = rerun(text, backend, python_of(name))
    assert done.status == 0, done.errors
    rows = [json.loads(line) for line in done.output.splitlines() if line.startswith("[")]
    assert len(rows) == len(tensors)
    for tensor, lines, (kind, shape, strides, raw) in zip(tensors, programs, rows):
        view = tensor.view
        due = np.ascontiguousarray(view).tobytes().hex()
        assert (kind, shape, raw) == (tensor.dtype.name, list(view.shape), due), lines
        # Elsewhere bfloat16 leaves the framework as a dense copy; Paddle's expand is no view, and no view is empty.
        copied = kind == "bfloat16" and name != "torch" or name == "paddle" and ".expand" in lines
        if not copied and view.size:
            assert all(n < 2 or s * view.itemsize == due for n, s, due in zip(shape, strides, view.strides)), lines
