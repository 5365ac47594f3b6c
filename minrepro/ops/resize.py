"""Resizing and sampling of images.

Every ``upsample_*`` is `F.interpolate` with a mode. ATen has two forms of each: ``.vec`` with the user's arguments, and
the plain one with a size and the scales the user gave. In both, a scale wins over the ratio of the sizes.
"""

from __future__ import annotations

from minrepro.errors import Unsupported
from minrepro.ops.absent import absent
from minrepro.ops.row import Args, Op, Spelling, op
from minrepro.ops.sample import normal, unit, values

SCALES = {1: ("scales",), 2: ("scales_h", "scales_w"), 3: ("scales_d", "scales_h", "scales_w")}
TERMS = {"nearest": 1, "nearest-exact": 1, "linear": 2, "bilinear": 4, "bicubic": 16, "trilinear": 8}


def _extent(a: Args) -> int:
    """The longest spatial axis of the image: positions along it are computed, and rounded."""
    image = a.input if hasattr(a, "input") else a.self
    return max(image.shape[2:], default=1)


def _target(a: Args, spatial: int, flow: bool) -> str:
    """Size or scale as keyword; OneFlow takes a list for a number, so it gets a tuple, or one number for one axis."""
    scales = a.scale_factors if hasattr(a, "scale_factors") else tuple(getattr(a, name) for name in SCALES[spatial])
    if scales is None or None in scales:
        return "size=output_size"
    if flow:
        return f"scale_factor={scales if spatial > 1 else scales[0]}"
    if hasattr(a, "scale_factors"):
        return "scale_factor=scale_factors"
    return f"scale_factor=[{', '.join(SCALES[spatial])}]"


def _interpolate(mode: str, spatial: int, image: str, more: str = "", flow: bool = False) -> Spelling:
    corners = "" if mode.startswith("nearest") else ", align_corners=align_corners"
    return lambda a: f"F.interpolate({image}, {_target(a, spatial, flow)}, mode='{mode}'{corners}{more})"


def _paddle_nearest1d(image: str) -> Spelling:
    """Paddle's nearest mode asks for two axes or three."""

    def spell(a: Args) -> str:
        scale = "scale_factors[0]" if hasattr(a, "scale_factors") else "scales"
        by_size = _target(a, 1, flow=False) == "size=output_size"
        target = "size=[output_size[0], 1]" if by_size else f"scale_factor=[{scale}, 1.0]"
        return f"F.interpolate({image}.unsqueeze(-1), {target}, mode='nearest').squeeze(-1)"

    return spell


def _rows(name: str, mode: str, spatial: int, antialias: bool = False) -> tuple[Op, Op]:
    """The two forms of one mode."""
    corners = not mode.startswith("nearest")
    more = ", antialias=True" if antialias else ""
    lacking = {
        "paddle": "nearest-exact" if mode == "nearest-exact" else "",
        "oneflow": "nearest-exact" if mode == "nearest-exact" else "antialiasing" if antialias else "",
    }
    title = {"paddle": "Paddle", "oneflow": "OneFlow"}

    def spellings(image: str) -> dict[str, Spelling]:
        flat = mode == "nearest" and spatial == 1
        own = {
            "paddle": _paddle_nearest1d(image) if flat else _interpolate(mode, spatial, image, more),
            "oneflow": _interpolate(mode, spatial, image, more, flow=True),
        }
        found = {key: absent(title[key], f"resizing with {lacking[key]}") if lacking[key] else own[key] for key in own}
        return {"torch": _interpolate(mode, spatial, image, more), **found}

    fields = dict(kind="reduction" if corners else "exact", length=lambda a: TERMS[mode])
    if corners:
        fields["reach"] = _extent
    why = "Paddle takes the first pixel where the size is 1; frameworks differ where a scale leaves the size as it is"
    fields["why"] = why if corners else ""
    vec = op(
        f"{name}.vec(input, output_size, {'align_corners, ' if corners else ''}scale_factors)",
        samples=_samples("input", spatial, corners, "scale_factors"),
        **fields, **spellings("input"),
    )
    scales = ", ".join(f"{scale}=None" for scale in SCALES[spatial])
    plain = op(
        f"{name}(self, output_size, {'align_corners, ' if corners else ''}{scales})",
        samples=_samples("self", spatial, corners, None),
        **fields, **spellings("self"),
    )
    return vec, plain


def _samples(image: str, spatial: int, corners: bool, scales: str | None) -> list[dict]:
    """Enlarge, shrink, one pixel, and a scale that is not the ratio of the sizes."""
    start, larger, smaller = (4, 5, 3)[:spatial], (6, 7, 5)[:spatial], (2, 3, 2)[:spatial]
    scaled = tuple(int(size * 1.5) for size in start)
    x = normal(2, 3, *start)
    none = {} if scales is None else {scales: None}
    factor = dict.fromkeys(SCALES[spatial], 1.5) if scales is None else {scales: (1.5,) * spatial}
    samples = [
        {image: x, "output_size": larger, **none},
        {image: x, "output_size": smaller, **none},
        {image: x, "output_size": (1,) * spatial, **none},
        {image: x, "output_size": scaled if scales is None else None, **factor},
    ]
    if not corners:
        return samples
    other = [dict(sample, align_corners=True) for sample in samples[:1]]
    samples = [dict(sample, align_corners=False) for sample in samples] + other
    if scales is not None:
        samples.append(dict(samples[3], scale_factors=(1.2,) * spatial))
    return samples


MODES = ("bilinear", "nearest", "bicubic")
PADDINGS = ("zeros", "border", "reflection")


def _grid_sample(bicubic: bool) -> Spelling:
    def spell(a: Args) -> str:
        mode = MODES[a.interpolation_mode]
        if mode == "bicubic" and not bicubic:
            raise Unsupported("Paddle's grid_sample has no bicubic mode; compare on another backend")
        padding = PADDINGS[a.padding_mode]
        return f"F.grid_sample(input, grid, mode='{mode}', padding_mode='{padding}', align_corners=align_corners)"

    return spell


def _grid_row(name: str, spatial: int) -> Op:
    size, target = (4, 5, 3)[:spatial], (3, 2, 2)[:spatial]
    image = normal(2, 3, *size)
    grid = values(unit(2, *target, spatial, seed=1).values * 2.4 - 1.2)
    samples = [
        dict(input=image, grid=grid, interpolation_mode=0, padding_mode=0, align_corners=False),
        dict(input=image, grid=grid, interpolation_mode=0, padding_mode=1, align_corners=True),
        dict(input=image, grid=grid, interpolation_mode=1, padding_mode=0, align_corners=False),
        dict(input=image, grid=grid, interpolation_mode=0, padding_mode=2, align_corners=False),
    ]
    if spatial == 2:
        samples.append(dict(input=image, grid=grid, interpolation_mode=2, padding_mode=0, align_corners=False))
    return op(
        f"{name}(input, grid, interpolation_mode, padding_mode, align_corners)",
        kind="reduction",
        length=lambda a: (2, 1, 4)[a.interpolation_mode] ** (len(a.input.shape) - 2),
        reach=_extent,
        torch=_grid_sample(bicubic=True),
        paddle=_grid_sample(bicubic=False),
        samples=samples,
        why="modes and paddings are numbers in ATen; Paddle has no bicubic mode",
    )


OPS = (
    *_rows("upsample_nearest1d", "nearest", 1),
    *_rows("upsample_nearest2d", "nearest", 2),
    *_rows("upsample_nearest3d", "nearest", 3),
    *_rows("_upsample_nearest_exact1d", "nearest-exact", 1),
    *_rows("_upsample_nearest_exact2d", "nearest-exact", 2),
    *_rows("_upsample_nearest_exact3d", "nearest-exact", 3),
    *_rows("upsample_linear1d", "linear", 1),
    *_rows("upsample_bilinear2d", "bilinear", 2),
    *_rows("upsample_trilinear3d", "trilinear", 3),
    *_rows("upsample_bicubic2d", "bicubic", 2),
    *_rows("_upsample_bilinear2d_aa", "bilinear", 2, antialias=True),
    *_rows("_upsample_bicubic2d_aa", "bicubic", 2, antialias=True),
    _grid_row("grid_sampler", 2),
    _grid_row("grid_sampler_2d", 2),
    _grid_row("grid_sampler_3d", 3),
    op(
        "affine_grid_generator(theta, size, align_corners)",
        kind="reduction",
        length=lambda a: a.theta.shape[-1],
        torch="F.affine_grid(theta, size, align_corners=align_corners)",
        paddle="F.affine_grid(theta, size, align_corners=align_corners)",
        samples=[
            dict(theta=normal(2, 2, 3), size=(2, 3, 4, 5), align_corners=False),
            dict(theta=normal(2, 2, 3), size=(2, 3, 4, 5), align_corners=True),
        ],
        why="`F.affine_grid`",
    ),
)
