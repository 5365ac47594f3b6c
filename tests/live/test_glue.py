"""Mistakes planted in the zoo's ports, each in a module's own code, end in a short script that shows just them.

A script that was mended by hand has to exit with 0: it shows the mistake and nothing else.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from minrepro import zoo
from minrepro.align import Request, open_alignment
from minrepro.align.glue import LINES, reduce_glue
from minrepro.capture.source import resolve
from minrepro.verify.running import run


class Fault(NamedTuple):
    """A mistake: where, what the port has and what it is replaced by, and how the script is mended."""

    model: str
    framework: str
    unit: str
    right: str
    wrong: str
    shown: str
    mended: str


FAULTS = {
    "residual dropped": Fault(
        "mixer_tiny", "paddle", "blocks.0", "x = x + mixed.transpose([0, 2, 1])", "x = mixed.transpose([0, 2, 1])",
        "return mlp_tokens", "return x + mlp_tokens"),
    "mean over the wrong axis": Fault(
        "mixer_tiny", "paddle", "", "paddle.mean(x, axis=1)", "paddle.mean(x, axis=2)", "axis=2", "axis=1"),
    "reshape for transpose": Fault(
        "mixer_tiny", "paddle", "stem", "return self.proj(x).flatten(2).transpose([0, 2, 1])",
        "x = self.proj(x).flatten(2)\n        return x.reshape([x.shape[0], x.shape[2], x.shape[1]])",
        "x.reshape([1, 2, 2])", "x.transpose([0, 2, 1])"),
    "concatenated in the wrong order": Fault(
        "vit_tiny", "oneflow", "", "flow.cat([self.cls_token.expand(x.shape[0], -1, -1), x], dim=1)",
        "flow.cat([x, self.cls_token.expand(x.shape[0], -1, -1)], dim=1)", "flow.cat([x, cls_token]",
        "flow.cat([cls_token, x]"),
    "softmax over the queries": Fault(
        "vit_tiny", "oneflow", "blocks.0.attn", "dim=-1)\n        return self.proj", "dim=-2)\n        return self.proj",
        "dim=-2", "dim=-1"),
    "queries and keys swapped": Fault(
        "vit_tiny", "oneflow", "blocks.0.attn", "q, k, v = split", "k, q, v = split", "matmul(k, q.", "matmul(q, k."),
    "heads split in the wrong order": Fault(
        "vit_tiny", "oneflow", "blocks.0.attn",
        "reshape(batch, tokens, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)",
        "reshape(batch, tokens, self.heads, width // self.heads, 3).permute(4, 0, 2, 1, 3)",
        "qkv.reshape(1, 1, 2, 1, 3).permute(4, 0, 2, 1, 3)", "qkv.reshape(1, 1, 3, 2, 1).permute(2, 0, 3, 1, 4)"),
    "scaled by the whole width": Fault(
        "vit_tiny", "oneflow", "blocks.0.attn", "(width // heads) ** -0.5", "width ** -0.5", "* 0.7071067811865476", "* 1.0"),
    "mask inverted": Fault(
        "bert_tiny", "paddle", "", "(1.0 - attention_mask.unsqueeze([1, 2]).astype(x.dtype))",
        "attention_mask.unsqueeze([1, 2]).astype(x.dtype)", "return attention_mask", "return 1.0 - attention_mask"),
    "softmax in a module that has no counterpart": Fault(
        "bert_tiny", "paddle", "encoder.layer.0", "F.softmax(scores, axis=-1)", "F.softmax(scores, axis=-2)",
        "axis=-2", "axis=-1"),
    "an embedding left out": Fault(
        "bert_tiny", "oneflow", "embeddings", "self.LayerNorm(x + self.position_embeddings(positions))", "self.LayerNorm(x)",
        "return x", "return x + position_embeddings"),
    "patches laid out in the wrong order": Fault(
        "mar_tiny", "paddle", "::patchify", "x.transpose([0, 2, 4, 1, 3, 5])", "x.transpose([0, 2, 4, 1, 5, 3])",
        "[0, 2, 4, 1, 5, 3]", "[0, 2, 4, 1, 3, 5]"),
    "noise with the weight of the signal": Fault(
        "mar_tiny", "paddle", "diffloss.train_diffusion::q_sample", "self.noise[t].unsqueeze(1) * noise",
        "self.signal[t].unsqueeze(1) * noise", "return signal", "return noise[t].unsqueeze(1)"),
    "sign of a divergence": Fault(
        "mar_tiny", "paddle", "diffloss.train_diffusion", "0.5 * (log_variance - true_log - 1",
        "0.5 * (true_log - log_variance - 1", "return true_log - log_variance", "return log_variance - true_log"),
    "a step that raises": Fault(
        "mixer_tiny", "paddle", "", "paddle.mean(x, axis=1)", "paddle.mean(x.reshape([x.shape[0], 7, 10]), axis=1)",
        "x.reshape([1, 7, 10])", "x.mean(axis=1)"),
}


def opened(fault: Fault, folder: Path, environment_of):
    """An alignment of the reference with a port that has the mistake."""
    file, function = zoo.ports(fault.framework)[fault.model]
    text = Path(file).read_text(encoding="utf-8")
    assert text.count(fault.right) == 1, "the port has changed: plant this mistake anew"
    port = folder / "port.py"
    port.write_text(text.replace(fault.right, fault.wrong), encoding="utf-8")
    source = {"file": str(port), "callable": function, "paths": [str(Path(file).parent)]}
    request = Request(
        model=resolve(fault.model), port=source, names=(fault.model, "port.py"), convert={**source, "callable": "convert"},
        mapped=tuple(f"{left}={right}" for left, right in zoo.port_map(file).items()),
    )
    specs = [f"{name}@{environment_of(name).interpreter}" for name in ("torch", fault.framework)]
    return open_alignment(*specs, folder / "run", request, lambda done, total, what: None)


@pytest.mark.parametrize("name", FAULTS)
def test_a_port_mistake_ends_in_a_short_script(name: str, tmp_path, environment_of) -> None:
    fault = FAULTS[name]
    alignment = opened(fault, tmp_path, environment_of)
    try:
        found = alignment.run()
        row = next(row for row in found.rows if row.unit == fault.unit)
        glue = reduce_glue(alignment, row, tmp_path)
        interpreter = alignment.pair.candidate.worker.interpreter
    finally:
        alignment.pair.stop()
    assert glue.verified and glue.path is not None, glue.why
    text = glue.path.read_text(encoding="utf-8")
    assert glue.lines == len(text.splitlines()) <= LINES
    assert "A mistake of the port, not a bug of" in text and "port.py:" in text
    assert glue.steps[1] <= glue.steps[0] and glue.elements[1] <= glue.elements[0]
    head, port, tail = text.partition("def port(")
    assert tail.count(fault.shown) == 1, text
    mended = run(head + port + tail.replace(fault.shown, fault.mended), interpreter, deadline=120.0)
    assert mended.status == 0, f"{text}\n{mended.output}\n{mended.errors}"


def test_a_right_port_is_not_reduced(tmp_path, environment_of) -> None:
    right = FAULTS["mean over the wrong axis"]._replace(wrong="paddle.mean(x, axis=1)")
    alignment = opened(right, tmp_path, environment_of)
    try:
        found = alignment.run()
        glue = reduce_glue(alignment, next(row for row in found.rows if row.unit == ""), tmp_path)
    finally:
        alignment.pair.stop()
    assert not glue.verified and glue.path is None and "nothing differs" in glue.why


def test_what_is_not_understood_is_said(tmp_path, environment_of) -> None:
    odd = FAULTS["mean over the wrong axis"]._replace(
        right="        return self.head(paddle.mean(x, axis=1))",
        wrong="        global WIDTH\n        WIDTH = x.shape[-1]\n        return self.head(paddle.mean(x, axis=2))")
    alignment = opened(odd, tmp_path, environment_of)
    try:
        found = alignment.run()
        glue = reduce_glue(alignment, next(row for row in found.rows if row.unit == ""), tmp_path)
    finally:
        alignment.pair.stop()
    assert glue.path is None and "Global" in glue.why
