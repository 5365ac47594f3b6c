"""What `minrepro align` says of models, ports and converters that do not mean it well."""

from __future__ import annotations

from pathlib import Path

import numpy
import pytest

from tests.live.test_align_cases import align, rows

__all__ = ["align"]
HERE = Path(__file__).parent
PAIRS = HERE / "models/hostile.py"
PORTS = HERE / "models/hostile_paddle.py"


def sides(model: str, port: str = "") -> list[str]:
    return ["--model", f"{PAIRS}:{model}", "--port", f"{PORTS}:{port or model}"]


@pytest.mark.parametrize("model", ["shared", "bound", "draws", "narrow", "plain"])
def test_a_right_port_is_not_blamed(align, model):
    status, report = align(*sides(model))
    assert status == 0 and report["verdict"] in ("clean", "arithmetic")
    assert not rows(report, "port") and not any(entry["blame"] for entry in report["state"]["entries"])


@pytest.mark.parametrize("port", ["draws_wrongly", "narrow_wrongly"])
def test_a_mistake_shows_beside_draws_and_without_a_float64_run(align, port):
    status, report = align(*sides(port.partition("_")[0], port))
    assert (status, report["verdict"], rows(report, "port")) == (1, "port", [""])


def test_a_gradient_that_is_nothing_but_rounding_blames_nobody(align):
    status, report = align(*sides("normed"), "--train", "--backward")
    assert (status, report["verdict"]) == (0, "clean")
    assert any(item["key"] == "c.bias" for item in report["training"])


def test_a_layer_without_a_float64_copy_has_its_gradients_compared(align):
    status, report = align(*sides("recurrent"), "--convert", f"{PORTS}:unchanged", "--train", "--train-steps", "1")
    assert (status, report["verdict"]) == (0, "clean")
    assert any(item["what"] == "gradient" and "weight" in item["key"] for item in report["training"])


def test_a_backward_that_the_port_refuses_keeps_the_table(align):
    status, report = align(*sides("recurrent"), "--convert", f"{PORTS}:unchanged", "--backward")
    assert (status, report["verdict"], report["training"]) == (1, "exception", [])
    assert any("add --train" in note for note in report["notes"])
    assert all(row["verdict"] in ("same", "arithmetic", "idle") for row in report["rows"])


def test_dropout_inside_an_attention_kernel_is_given_to_the_port(align):
    status, report = align(*sides("encoder"), "--convert", f"{PORTS}:encoder_state", "--train")
    assert (status, report["verdict"]) == (0, "clean")
    attention = next(row for row in report["rows"] if row["unit"] == "self_attn")
    assert attention["made_here"] < 1e-5 and any(
        draw["shape"] == [2, 2, 5, 5] and draw["taken"] for draw in report["draws"])


@pytest.mark.parametrize(("framework", "options"), [
    ("paddle", ["--convert", f"{PORTS}:unchanged", "--train-steps", "1"]), ("oneflow", [])])
def test_a_draw_inside_a_kernel_blames_nobody(align, framework, options):
    port = f"{HERE}/models/hostile_{framework}.py:dropping"
    status, report = align("--model", f"{PAIRS}:dropping", "--port", port, "--train", *options, candidate=framework)
    assert (status, report["verdict"], rows(report, "draw")) == (1, "draw", ["r"])
    assert "inside a kernel of r" in next(row["note"] for row in report["rows"] if row["unit"] == "r")
    assert not report["training"]
    assert not options or "no whole backward pass and no training step: the draws inside r cannot be pinned" in report["notes"]


def test_dropout_of_an_attention_function_and_of_oneflows_layer_is_given_to_the_port(align):
    status, report = align(*sides("attending"), "--train", "--train-steps", "1")
    assert (status, report["verdict"]) == (0, "clean") and all(draw["taken"] for draw in report["draws"])
    port = f"{HERE}/models/hostile_oneflow.py:dropped"
    status, report = align("--model", f"{PAIRS}:dropped", "--port", port, "--train", candidate="oneflow")
    assert (status, report["verdict"]) == (0, "clean") and all(draw["taken"] for draw in report["draws"])


def test_a_subclass_of_a_layer_lies_as_the_layer_does(align):
    status, report = align(*sides("oblong"))
    assert (status, report["verdict"]) == (0, "clean")
    assert {entry["given"] for entry in report["state"]["entries"]} == {"turned as due", "equal"}


@pytest.mark.parametrize(("rows_of_y", "port", "status"), [(3, "pair", 2), (1, "pair", 0), (1, "pair_together", 1)])
def test_inputs_of_unequal_batch_are_said_where_something_raises(align, tmp_path, rows_of_y, port, status):
    numpy.savez(tmp_path / "inputs.npz", x=numpy.ones((2, 4), "float32"), y=numpy.ones((rows_of_y, 4), "float32"))
    ended, report = align(*sides("pair", port), "--inputs", str(tmp_path / "inputs.npz"))
    assert ended == status
    told = report if status == 2 else " ".join(report["notes"])
    assert (f"first axes differ: x has 2, y has {rows_of_y}" in told) == (status != 0)


def test_a_model_is_its_own_port_on_another_version(align):
    status, report = align("--model", f"{PORTS}:itself", "--port", f"{PORTS}:itself", "--reference", "paddle")
    assert (status, report["verdict"]) == (0, "clean")


def test_bfloat16_weights_are_carried_as_numbers(align):
    status, report = align("--model", f"{PAIRS}:bfloat", "--port", f"{PAIRS}:bfloat", candidate="torch")
    assert (status, report["verdict"]) == (0, "clean")
    status, report = align(*sides("bfloat"))
    assert not any(entry["blame"] for entry in report["state"]["entries"])


def test_a_traced_model_that_hides_its_arguments_is_compared(align):
    assert align(*sides("traced", "shared"))[0] == 0


def test_modules_in_a_plain_list_are_named(align):
    status, report = align(*sides("loose"))
    assert (status, report["verdict"]) == (1, "unpaired")
    assert any("rest holds modules in a plain container" in entry["detail"] for entry in report["state"]["entries"])


def test_a_result_of_another_shape_or_with_more_tensors_is_said(align):
    status, report = align(*sides("plain", "number"))
    assert (status, report["verdict"]) == (1, "port")
    status, report = align(*sides("plain", "more"))
    assert status == 0 and any("returns 1 more tensor" in note for note in report["notes"])


def test_another_precision_does_not_hide_a_mistake(align):
    status, report = align(*sides("plain", "wide_wrongly"))
    assert (status, report["verdict"]) == (1, "port")


@pytest.mark.parametrize(("model", "port", "options", "words"), [
    ("plain", "plain", ["--convert", f"{PORTS}:raising"], "the converter raised KeyError"),
    ("plain", "plain", ["--convert", f"{PORTS}:listing"], "returned list; expected a dict"),
    ("plain", "plain", ["--convert", f"{PORTS}:writing"], "read-only: copy before you write"),
    ("half", "plain", [], "build it in the reference's dtype"),
    ("plain", "no_layer", [], "expected a paddle.nn.Layer"),
    ("plain", "keyword", [], "wrap the model in one that takes them"),
])
def test_what_cannot_be_compared_is_the_users_to_mend(align, model, port, options, words):
    status, message = align(*sides(model, port), *options)
    assert status == 2 and words in message


def test_a_port_that_ends_its_own_process_is_a_finding(align):
    status, report = align(*sides("plain", "dies"))
    assert (status, report["verdict"], report["call"]) == (1, "crash", None)
    assert report["failure"]["blame"]["message"] == "in the port's own code: no call of paddle was running"
