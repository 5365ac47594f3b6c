"""OneFlow for the CPU.

Its wheel is linked against six CUDA libraries that its metadata does not declare, so that it cannot be imported without
them even where no GPU is used. They come from NVIDIA's wheels (1.4 GB on disk), or are stood in for by small libraries that are
compiled here. It was built against NumPy 1 and protobuf 3.
"""

from __future__ import annotations

from pathlib import Path

from minrepro.environments import stand_ins
from minrepro.environments.recipes import Recipe, Say, Variant

CUDA_WHEELS = ("nvidia-cudnn-cu11==8.5.0.96", "nvidia-cublas-cu11==11.10.3.66")


def variants(version: str) -> tuple[Variant, ...]:
    """With stand-ins where they can be compiled, else with the wheels."""
    requirements = ("oneflow" + (f"=={version}" if version else ""), "numpy<2", "protobuf<4")
    if stand_ins.can_compile():
        return (Variant(requirements, "", (), 1_000_000_000, 2_710_000_000, _finish),)
    note = "gcc and nm are not both here, so OneFlow's CUDA libraries come as wheels (0.9 GB more to download)"
    return (Variant((*requirements, *CUDA_WHEELS), note, (), 1_880_000_000, 4_110_000_000),)


def _finish(packages: Path, say: Say) -> None:
    libraries = [*packages.glob("oneflow/*.so*"), *packages.glob("oneflow.libs/*.so*")]
    wanted = stand_ins.wanted(libraries, ("libcudnn", "libcublas"))
    for name, symbols in wanted.items():
        family = "cudnn" if name.startswith("libcudnn") else "cublas"
        # OneFlow's library looks for them here, by its own search path.
        stand_ins.compile_library(packages / "nvidia" / family / "lib" / name, symbols)
    say(f"compiled stand-ins for {len(wanted)} CUDA libraries ({sum(map(len, wanted.values()))} functions)")


RECIPE = Recipe(
    variants,
    pythons=("3.10", "3.9", "3.8"),
    refusal="on a newer Python its package is a placeholder that cannot be imported",
)
