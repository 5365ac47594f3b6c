"""Captured graphs compute what the model computes, on every rung, and say what is wrong where they cannot."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from minrepro import zoo
from minrepro.backends.program import program
from minrepro.capture import WORKER_SIDE, capture, resolve
from minrepro.errors import CaptureError, UsageError
from minrepro.ir.graph import Ref
from minrepro.ir.outcome import Completed
from minrepro.ir.tensor import CONTIGUOUS, Permute
from minrepro.ops import table as rows

HERE = Path(__file__).parent
MODELS = HERE / "capture_models.py"
PROBE = HERE / "capture_probe.py"
SMALL = [name for name in zoo.names() if name not in ("mixer", "mixer_b16", "mar")]


@pytest.fixture(scope="module")
def torch_worker(workers):
    """The torch worker of the session."""
    return workers("torch")


def of(name: str) -> str:
    """Model spec of one of the awkward models."""
    return f"{MODELS}:{name}"


def ops(captured) -> Counter:
    """How often each operator occurs."""
    return Counter(node.op for node in captured.graph.nodes)


@pytest.mark.parametrize("rung", ["log", "dispatch"])
@pytest.mark.parametrize("model", SMALL)
def test_every_small_zoo_model_replays_exactly(torch_worker, model, rung):
    captured = capture(torch_worker, model, rung=rung)
    assert captured.rung == rung
    assert captured.replay_exact, captured.remark
    assert captured.graph.lint() is None
    assert all(node.source.startswith("minrepro/zoo/") for node in captured.graph.nodes)
    assert sum(bool(node.path) for node in captured.graph.nodes) > len(captured.graph.nodes) / 2
    assert set(captured.specs) >= {*captured.graph.inputs, *(node.name for node in captured.graph.nodes)}


@pytest.mark.parametrize("rung", ["export", "make_fx"])
def test_every_small_zoo_model_replays_exactly_when_it_is_traced_first(torch_worker, rung):
    torch_worker.open()  # one session for all of them: the tracers take long to import
    # What export cannot express is a shape that depends on values: the masks of mar_tiny.
    for model in [name for name in SMALL if (rung, name) != ("export", "mar_tiny")]:
        arguments = dict(source=resolve(model), inputs=[], seed=0, rung=rung, rows=list(rows()))
        reply = torch_worker.call(WORKER_SIDE, "capture", **arguments)
        assert reply["rung"] == rung and reply["replay"]["exact"], reply
        assert all("zoo" in node["source"] for node in reply["nodes"])
        assert sum(bool(node["path"]) for node in reply["nodes"]) > len(reply["nodes"]) / 2


@pytest.mark.parametrize("model", SMALL)
def test_the_spelled_graph_gives_the_replayed_outputs(torch_worker, model):
    captured = capture(torch_worker, model)
    spelled = program(captured.graph, captured.specs, torch_worker.backend)
    outcome = torch_worker.step(spelled, {}, captured.graph.outputs)
    assert isinstance(outcome, Completed), outcome
    for name in captured.graph.outputs:
        assert outcome.values[name].shape == captured.specs[name].shape
        assert np.abs(outcome.values[name].values).max() > 0


def test_mixer_has_the_size_and_the_layout_of_the_converted_checkpoint(torch_worker):
    captured = capture(torch_worker, "mixer")
    assert captured.replay_exact
    assert captured.parameters == 59_880_472
    assert len(captured.state) == 150
    turned = [entry for entry in captured.state if not entry.contiguous]
    assert len(turned) == 37
    kinds = Counter(".".join(part for part in entry.key.split(".") if not part.isdigit()) for entry in turned)
    assert kinds == {
        "stem.proj.weight": 1, "blocks.mlp_tokens.fc1.weight": 12, "blocks.mlp_channels.fc1.weight": 12,
        "blocks.mlp_channels.fc2.weight": 12,
    }
    assert captured.specs["head_weight"].layout == CONTIGUOUS
    assert captured.specs["blocks_0_mlp_tokens_fc1_weight"].layout.links == (Permute((1, 0)),)
    assert captured.seconds["build"] < 3.0


def test_the_log_rung_keeps_composite_operators_and_costs_little(torch_worker):
    captured = capture(torch_worker, "mixer_tiny")
    assert captured.rung == "log"
    assert ops(captured) == {
        "linear": 9, "layer_norm": 5, "transpose": 5, "gelu": 4, "add": 4, "conv2d": 1, "flatten": 1, "mean": 1,
    }
    node = next(node for node in captured.graph.nodes if node.op == "layer_norm")
    assert node.path == "blocks.0.norm1"
    assert node.args["eps"] == 1e-6 and node.args["normalized_shape"] == (10,)
    assert node.args["weight"] == Ref("blocks_0_norm1_weight")
    assert captured.kinds["x"] == "input" and captured.keys["head_weight"] == "head.weight"
    assert captured.seconds["capture"] < 0.6


def test_tiny_and_square_mixers_differ_as_twins_should(torch_worker):
    tiny, square = capture(torch_worker, "mixer_tiny"), capture(torch_worker, "mixer_tiny_square")
    for captured in (tiny, square):
        assert sum(not entry.contiguous for entry in captured.state) == 7
    shape = {entry.key: entry.shape for entry in square.state}
    assert shape["blocks.0.mlp_tokens.fc1.weight"] == (9, 9)
    sizes = {size for entry in tiny.state for size in entry.shape if len(entry.shape) == 2}
    assert sizes == {5, 10, 11, 40, 56}


def test_no_zoo_model_has_neutral_norms(torch_worker):
    captured = capture(torch_worker, "resnet_tiny")
    for name in ("bn1_weight", "bn1_bias", "bn1_running_mean", "bn1_running_var"):
        values = np.array(torch_worker.call(PROBE, "values", name=name))
        assert np.abs(values - 1).max() > 0.05 and np.abs(values).max() > 0.05, name
    assert captured.kinds["bn1_running_var"] == "buffer"


@pytest.mark.parametrize("rung", ["log", "dispatch"])
@pytest.mark.parametrize(
    "model",
    [
        "masked", "writes", "input_write", "shared", "nested", "random", "assorted", "norm", "lazy", "scripted",
        "conjugate", "attentive", "packed", "alike",
    ],
)
def test_awkward_models_replay_exactly(torch_worker, model, rung):
    captured = capture(torch_worker, of(model), rung=rung)
    assert captured.replay_exact, captured.remark
    assert all(node.source.startswith("tests/live/") for node in captured.graph.nodes if node.source)


def test_recurrent_layers_stay_whole_in_training(torch_worker):
    assert ops(capture(torch_worker, of("recurrent"), train=True))["lstm.input"] == 1


def test_entries_of_the_state_that_are_no_tensors_are_left_out(torch_worker):
    assert [entry.key for entry in capture(torch_worker, of("packed")).state] == ["linear.weight", "linear.bias"]
    assert len(capture(torch_worker, of("lazy")).state) == 4


def test_make_fx_captures_what_export_refuses(torch_worker):
    with pytest.raises(CaptureError, match="export: .*[Dd]ata"):
        capture(torch_worker, of("masked"), rung="export")
    captured = capture(torch_worker, of("masked"), rung="make_fx")
    assert captured.replay_exact and captured.rung == "make_fx"


def test_the_ladder_goes_on_where_a_rung_gives_up(torch_worker):
    captured = capture(torch_worker, of("turned"))
    assert captured.replay_exact and captured.rung == "export"
    assert captured.failures == (("log", "Unrecordable: the write aten.t_.default"),)


def test_a_model_is_found_by_package_and_module(torch_worker, monkeypatch):
    monkeypatch.chdir(HERE.parent.parent)
    assert capture(torch_worker, "tests.live.capture_models:shared").model == "Shared"


def test_numpy_constants_and_draws_become_inputs(torch_worker):
    captured = capture(torch_worker, of("masked"))
    kinds = Counter(captured.kinds.values())
    assert kinds["constant"] == 1 and kinds["random"] == 1 and kinds["input"] == 2
    assert ops(captured)["slice_scatter"] == 1 and ops(captured)["nonzero"] == 2
    random = capture(torch_worker, of("random"))
    drawn = sorted(random.keys[name] for name, kind in random.kinds.items() if kind == "random")
    assert drawn == ["bernoulli", "bernoulli", "normal", "rand", "randint", "randperm"]


def test_dropout_and_batch_norm_are_captured_in_training_mode(torch_worker):
    captured = capture(torch_worker, of("norm"), train=True)
    assert captured.replay_exact
    assert next(node for node in captured.graph.nodes if node.op == "batch_norm").args["training"] is True
    assert "random" in captured.kinds.values()
    plain = capture(torch_worker, of("norm"))
    assert ops(plain) == {"batch_norm": 1, "linear": 1}


def test_writes_through_views_keep_the_write_and_rebuild_the_rest(torch_worker):
    captured = capture(torch_worker, of("writes"))
    found = ops(captured)
    assert found["fill_"] == 2 and found["zero_"] == 1 and found["copy_"] == 3
    assert found["slice_scatter"] and found["select_scatter"] and found["as_strided_scatter"]
    # What nothing else looks at is computed without a write.
    assert found["relu"] == 1 and found["clamp"] == 1 and not found["relu_"] and not found["clamp_"]


def test_a_call_that_gives_its_arguments_back_is_a_step_beside_the_flow(torch_worker):
    captured = capture(torch_worker, of("alike"))
    assert ops(captured) == Counter(["mul", "add", "broadcast_tensors", "mul"])
    last = captured.graph.nodes[-1]
    assert {ref.name for ref in last.args.values() if isinstance(ref, Ref)} == {"mul", "add"}


def test_a_model_that_writes_to_its_input_is_captured_with_the_input_as_it_was(torch_worker):
    captured = capture(torch_worker, of("input_write"))
    spelled = program(captured.graph, captured.specs, torch_worker.backend)
    before = np.array(torch_worker.call(PROBE, "values", name="x"))
    count = np.array(torch_worker.call(PROBE, "values", name="count"))
    outcome = torch_worker.step(spelled, {}, captured.graph.outputs)
    assert np.array_equal(count, np.zeros(3))
    assert np.allclose(outcome.values[captured.graph.outputs[0]].values, 2 * before + 2 * before.sum(0), atol=1e-5)


def test_shared_modules_and_tied_weights_are_one_input(torch_worker):
    captured = capture(torch_worker, of("shared"))
    linears = [node for node in captured.graph.nodes if node.op == "linear"]
    assert len(linears) == 3
    assert {node.args["weight"] for node in linears} == {Ref("once_weight")}
    assert captured.keys["scale"] == "scale" and captured.kinds["scale"] == "constant"


def test_nested_inputs_and_outputs_keep_names_and_layout(torch_worker):
    captured = capture(torch_worker, of("nested"))
    assert set(captured.graph.inputs) == {"pair_0", "pair_1", "options_w"}
    assert captured.labels == ("logits", "extra_0", "extra_1_twice")
    assert captured.specs["pair_0"].layout.links == (Permute((1, 0)),)
    assert captured.specs["options_w"].layout.links == (Permute((1, 0)),)


def test_every_graph_input_and_state_entry_is_bound_with_its_layout(torch_worker):
    captured = capture(torch_worker, "mixer_tiny")
    names = [*captured.graph.inputs, *(entry.name for entry in captured.state)]
    found = dict(zip(names, torch_worker.call(PROBE, "bound", names=names)))
    for entry in captured.state:
        assert found[entry.name] == [list(entry.shape), f"torch.{entry.dtype}", list(entry.strides)]
        assert entry.name in captured.graph.inputs
    assert found["x"][0] == [2, 3, 28, 48]


def test_the_same_seed_gives_the_same_capture_and_another_one_does_not(torch_worker):
    def head(seed: int) -> tuple:
        captured = capture(torch_worker, "mixer_tiny", seed=seed)
        return captured.graph, torch_worker.call(PROBE, "values", name="head_bias")

    first, again, other = head(3), head(3), head(4)
    assert first == again
    assert first[0] == other[0] and first[1] != other[1]


def test_a_wrong_recording_does_not_pass_the_replay_check(torch_worker):
    file, function = zoo.names()["mixer_tiny"]
    torch_worker.open()
    source = {"file": file, "callable": function, "paths": [str(Path(file).parent)]}
    before, after = torch_worker.call(
        PROBE, "tampered", worker_side=str(WORKER_SIDE), source=source, op="layer_norm", argument="eps", value=1e-3
    )
    assert before["exact"] and not after["exact"] and after["worst"] > 0


def test_input_specs_reach_the_model(torch_worker, tmp_path):
    captured = capture(torch_worker, of("Tokens"), ("ids=int64[2,5]<7", "mask=float32[2,5]"))
    assert captured.specs["ids"].shape == (2, 5) and captured.specs["ids"].dtype == "int64"
    assert np.array(torch_worker.call(PROBE, "values", name="ids")).max() < 7
    np.savez(tmp_path / "in.npz", x=np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3)))
    for spec in (f"x=@{tmp_path}/in.npz:x", f"{tmp_path}/in.npz"):
        captured = capture(torch_worker, of("Plain"), (spec,))
        assert torch_worker.call(PROBE, "values", name="x") == [[0, 1, 2], [3, 4, 5]]
        assert captured.specs["x"].layout.links == (Permute((1, 0)),)
    assert capture(torch_worker, of("Plain"), ("float32[2,3]",)).specs["x"].shape == (2, 3)


@pytest.mark.parametrize(
    ("model", "inputs", "said"),
    [
        ("mixer_tny", (), "did you mean 'mixer_tiny'"),
        ("no_such.py:build", (), "is not there"),
        (f"{MODELS}", (), "expected .*:CALLABLE"),
        (of("maskd"), (), "Did you mean 'masked'"),
        ("no.such.package:build", (), "importing the model raised ModuleNotFoundError"),
        (of("raises"), (), r"building the model raised KeyError at tests/live/capture_models.py:\d+: 'width'"),
        (of("broken"), (), r"forward raised RuntimeError in module 'inner.1' \(Linear\) at .*:\d+: mat1 and mat2"),
        (of("Plain"), (), r"forward\(x, flag=None\).*--input 'x=float32\[2,3\]'"),
        (of("Tokens"), (), r"--input 'ids=int64\[2,16\]<7'"),
        (of("Plain"), ("y=float32[2,3]",), "do not fit forward"),
        (of("Plain"), ("x=float32[2,4]",), "forward raised RuntimeError"),
        (of("Plain"), ("x=float32(2,3)",), r"expected one of x=float32\[2,3,32,32\]"),
        (of("Plain"), ("x=flot32[2,3]",), "unknown dtype 'flot32'"),
        (of("Plain"), ("x=float32[2,,3]",), "have a gap"),
        (of("Plain"), ("x=float32[2,3]<5",), "only integers take one"),
        (of("Plain"), ("x=@nowhere.npz:x",), "is not there"),
        (of("nan"), (), r"NaN.*bias \(1 of 2 elements\)"),
        (of("nothing"), (), "does nothing"),
        (of("text"), (), "returned a str without any tensor"),
        (of("unseen"), (), "no captured graph computes what the model does:\n  log: the replay differs by up to 100"),
        (of("not_a_module"), (), "returned a int; expected a torch.nn.Module"),
        (of("needs"), (), "the callable needs width"),
    ],
)
def test_what_the_user_can_mend_is_said(torch_worker, model, inputs, said):
    with pytest.raises(UsageError, match=said):
        capture(torch_worker, model, inputs)
    assert capture(torch_worker, "mixer_tiny_square").replay_exact  # the worker is still of use


def test_an_unknown_rung_is_refused(torch_worker):
    with pytest.raises(UsageError, match="unknown rung 'fx'"):
        capture(torch_worker, "mixer_tiny", rung="fx")
