"""A few live bugs of every kind, from model to verified script; ``python -m tests.live.bugs`` runs all of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.live.bugs.__main__ import EXPLAINED, cases, run

QUICK = (
    "paddle_bool_true_divide",  # dtype
    "paddle_hypot_overflow",  # nonfinite
    "paddle_index_get_transposed",  # layout
    "paddle_int64_fmax",  # integers beyond float64
    "paddle_load_layer_norm_2d_skipped",  # load
    "paddle_rms_norm_no_cpu_kernel",  # exception
    "paddle_transpose_short_perm",  # torch refuses, and the model goes on
    "oneflow_conv_same_even",  # shape
    "oneflow_fill_noncontiguous",  # write through a view
    "oneflow_int_divide_by_zero",  # crash where torch refuses
    "oneflow_nan_greater",  # value
    "oneflow_normalize_empty",  # crash of a function that torch writes in Python
    "torch_ndtr_tail",  # the reference is wrong
)


@pytest.mark.parametrize("name", QUICK)
def test_bug_ends_in_a_verified_script_at_or_below_the_trigger(name, python_of, tmp_path):
    case = cases()[name]
    for backend in {"torch", case["candidate"]}:
        python_of(backend)
    made = run(name, case, tmp_path)
    assert made["ok"], made


def test_a_bug_that_torch_cannot_show_is_no_false_alarm(python_of, tmp_path):
    python_of("oneflow")
    name = "oneflow_cell_without_state"
    assert name in EXPLAINED
    assert run(name, cases()[name], tmp_path)["verdict"] == "clean"


def test_the_table_names_what_it_does_not_know():
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    command = [sys.executable, "-m", "tests.live.bugs", "paddle_hypot_overfow"]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "unknown: paddle_hypot_overfow" in done.stderr


def test_every_model_hides_its_trigger_and_tells_what_is_due():
    for name, case in cases().items():
        assert case["framework"] in ("paddle", "oneflow", "torch"), name
        assert json.dumps(case) and {"candidate", "symptom", "op", "elements"} <= set(case), name
