"""Precision settings: a framework computes in a narrower format because it was told to, or may by default.

That is legal and documented, and the user can switch it off. It counts only if both experiments see what they predict:
the result is that of a narrower format (`compare.policy`), and with the switch set the divergence is gone. A step that
is computed in a narrower format with no switch for it is a bug, and `rules/precision_policy` names it.
"""

from __future__ import annotations

import msgspec

from minrepro.compare.verdict import judge
from minrepro.diagnose.scene import Scene
from minrepro.ir.reduction import Diagnosis, Probe

NARROW = ("bfloat16", "float16")
"""Dtypes that autocast returns where float32 went in."""


class Setting(msgspec.Struct, frozen=True):
    """One switch.

    Attributes:
        name: what is set.
        framework: backend name.
        lines: what the experiment runs before the step.
        change: what the user writes.
        source: where the framework documents it.
    """

    name: str
    framework: str
    lines: tuple[str, ...]
    change: str
    source: str


OVERRIDE = ("import os", "os.environ['NVIDIA_TF32_OVERRIDE'] = '0'")
SETTINGS = (
    Setting(
        "autocast", "torch",
        ("[torch.set_autocast_enabled(device, False) for device in ('cpu', 'cuda')]",),
        "torch.autocast(device_type, enabled=False) around the step", "torch.amp.autocast",
    ),
    Setting(
        "float32 matmul precision", "torch", ('torch.set_float32_matmul_precision("highest")',),
        'torch.set_float32_matmul_precision("highest")', "torch.set_float32_matmul_precision",
    ),
    Setting(
        "TF32 in cuDNN", "torch", ("torch.backends.cudnn.allow_tf32 = False",),
        "torch.backends.cudnn.allow_tf32 = False", "torch.backends.cudnn.allow_tf32",
    ),
    Setting(
        "autocast", "paddle",
        ("_full = paddle.amp.auto_cast(enable=False)", "_full.__enter__()"),
        "paddle.amp.auto_cast(enable=False) around the step", "paddle.amp.auto_cast",
    ),
    Setting(
        "TF32 in cuBLAS and cuDNN", "paddle", OVERRIDE, "NVIDIA_TF32_OVERRIDE=0 in the environment",
        "cuBLAS library, section on TF32 tensor cores",
    ),
    Setting(
        "TF32 in cuBLAS and cuDNN", "oneflow", OVERRIDE, "NVIDIA_TF32_OVERRIDE=0 in the environment",
        "cuBLAS library, section on TF32 tensor cores",
    ),
)


def setting(scene: Scene) -> Diagnosis | None:
    """The setting on the candidate that makes the difference, or None."""
    found = scene.divergence
    cast = found.symptom == "dtype" and found.candidate in NARROW and found.reference in ("float32", "float64")
    if found.side != "candidate" or not (found.policy or cast):
        return None
    seen = found.policy or f"a result in {found.candidate}"
    first = Probe("the format of the result", "a narrower one than the inputs have", seen, True)
    for switch in SETTINGS:
        if switch.framework != scene.wrong.spec.name:
            continue
        verdict = judge(scene.question, scene.reference, scene.run_after(switch.lines)).verdict
        if verdict in ("same", "arithmetic"):
            second = Probe(f"the step after {switch.lines[-1]}", "the divergence is gone", f"verdict {verdict}", True)
            says = f"{scene.wrong.title} computes this in a narrower format because of a setting: {switch.name} ({seen})"
            return Diagnosis(f"policy: {switch.name}", "neither", says, (first, second), (), switch.change, switch.source)
    return None
