"""Layers of two frameworks: the same ones never differ, whatever they are called, and a changed setting is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from minrepro.align import settings
from minrepro.align.pairing import Module, modules
from minrepro.align.seat import Seat
from minrepro.compare.pair import open_side
from tests.live.test_align_cases import align, rows

__all__ = ["align"]
HERE = Path(__file__).parent / "models"
DIFFERS = {
    "up1": "stride", "up2": "output_padding", "up3": "bias", "conv1": "padding", "conv2": "padding",
    "circular": "padding_mode", "norm2": "momentum", "sync": "momentum", "instance": "eps", "avg": "ceil",
    "padded": "count_include_pad", "max": "stride", "avg1": "kernel", "adaptive": "output_size",
    "nearest": "align_corners", "nearest2": "scale_factor", "bilinear": "align_corners", "shuffle": "upscale_factor",
    "dropout": "p", "leaky": "slope", "tanh": "approximate", "hardtanh": "min", "hardshrink": "threshold",
    "softplus": "beta", "log": "dim", "flatten": "end_dim", "reflect": "mode", "constant": "value", "zero": "padding",
    "lstm": "batch_first", "gru": "dropout", "heads": "num_heads", "cosine": "dim", "encoder": "norm_first",
    "fold": "stride", "channels": "groups",
}
"""Layer of `changed` in ``layers_paddle.py`` -> the setting that differs there."""


@pytest.fixture(scope="module")
def layers(environment_of, tmp_path_factory):
    """(framework, callable) -> path -> module."""
    known: dict[tuple[str, str], dict[str, Module]] = {}

    def ask(framework: str, function: str) -> dict[str, Module]:
        environment_of(framework)
        if (framework, function) not in known:
            side = open_side(framework, tmp_path_factory.mktemp(framework))
            file = HERE / ("layers.py" if framework == "torch" else f"layers_{framework}.py")
            try:
                side.worker.ensure()
                side.worker.open()
                source = {"file": str(file), "callable": function, "paths": []}
                tree = Seat(side, framework, 60.0).ask("build", source=source)["tree"]
            finally:
                side.worker.stop()
            known[framework, function] = {path: module for path, module in modules(tree).items() if path}
        return known[framework, function]

    return ask


@pytest.mark.parametrize("framework", ["paddle", "oneflow"])
def test_the_same_layers_do_not_differ_and_their_names_raise_no_suspicion(layers, framework):
    left, right = layers("torch", "same"), layers(framework, "same")
    both = [path for path in left if path in right]
    assert len(both) > 50
    assert {path: told for path in both if (told := settings.differences(left[path], right[path]))} == {}
    assert {path: told for path in both if (told := settings.suspicions(left[path], right[path]))} == {}


def test_a_changed_setting_is_named_and_nothing_else(layers):
    left, right = layers("torch", "same"), layers("paddle", "changed")
    assert set(DIFFERS) == {path for path in right if "." not in path}
    told = {path: settings.differences(left[path], right[path]) for path in DIFFERS}
    named = {path: [text.partition(" is ")[0].rpartition(" ")[2] for text in texts] for path, texts in told.items()}
    extra = {"nearest": ["align_corners", "mode"], "avg1": ["kernel", "stride"]}
    assert named == {path: extra.get(path, [name]) for path, name in DIFFERS.items()}


def test_another_stride_of_a_transposed_convolution_is_the_finding(align, tmp_path):
    (tmp_path / "ref.py").write_text(
        "import torch\n\n\ndef build():\n    up = torch.nn.ConvTranspose2d(2, 3, 2, stride=2)\n"
        "    return torch.nn.Sequential(up), torch.randn(1, 2, 4, 4)\n")
    (tmp_path / "port.py").write_text(
        "import paddle\n\n\ndef build():\n    return paddle.nn.Sequential(paddle.nn.Conv2DTranspose(2, 3, 2, stride=1))\n")
    status, report = align("--model", f"{tmp_path / 'ref.py'}:build", "--port", f"{tmp_path / 'port.py'}:build")
    assert (status, report["verdict"], rows(report, "port")) == (1, "port", ["0"])
    assert report["rows"][1]["note"] == "stride is [2, 2] on the reference and [1, 1] on the port"
    assert report["rows"][1]["lines"]["candidate"].endswith("port.py:5")
