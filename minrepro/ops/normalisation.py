"""Normalisation.

The ``native_*`` forms of the decomposed graph also give the mean and the inverse deviation; frameworks that keep these
to themselves get them composed. Paddle counts momentum from the other end, and OneFlow has group, instance and
root-mean-square normalisation as layers only.
"""

from __future__ import annotations

import math

from minrepro.errors import Unsupported
from minrepro.ops.phrase import in_layer
from minrepro.ops.row import Args, op
from minrepro.ops.sample import normal, positive

EPSILON = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}
"""What ``eps=None`` stands for in torch's `rms_norm`: the machine epsilon of the input."""


def _last(a: Args) -> list[int]:
    return list(range(-len(a.normalized_shape), 0))


def _affine(a: Args, weight: str = "weight", bias: str = "bias") -> str:
    text = f" * {weight}" if a.given("weight") else ""
    return text + (f" + {bias}" if a.given("bias") else "")


def _numpy_norm(a: Args, axes: str, affine: str) -> str:
    return f"(input - input.mean({axes}, keepdims=True)) / np.sqrt(input.var({axes}, keepdims=True) + eps){affine}"


def _numpy_layer_norm(a: Args) -> str:
    return _numpy_norm(a, str(tuple(_last(a))), _affine(a))


def _moments(a: Args, root: str) -> str:
    """Mean and inverse deviation over the normalised axes, kept as axes of size 1."""
    mean = f"input.mean({_last(a)}, keepdim=True)"
    return f"{mean}, {root}.rsqrt((input - {mean}).square().mean({_last(a)}, keepdim=True) + eps)"


def _numpy_moments(a: Args) -> str:
    axes = tuple(_last(a))
    return f"input.mean({axes}, keepdims=True), 1 / np.sqrt(input.var({axes}, keepdims=True) + eps)"


def _group_moments(a: Args, root: str) -> str:
    grouped = "input.reshape([N, group, -1])"
    deviation = f"({grouped} - {grouped}.mean(-1, keepdim=True)).square().mean(-1)"
    return f"{grouped}.mean(-1), {root}.rsqrt({deviation} + eps)"


def _flow_native_group_norm(a: Args) -> str:
    affine = a.given("weight") or a.given("bias")
    text = _flow_layer(a, f"GroupNorm(group, C, eps=eps, affine={affine})")
    return text.replace("out = out(input)", f"out = [out(input), {_group_moments(a, 'flow')}]")


def _paddle_instance_norm(a: Args) -> str:
    if not a.use_input_stats:
        raise Unsupported("Paddle's instance_norm does not read running statistics; use batch_norm in the model")
    return "F.instance_norm(input, weight=weight, bias=bias, eps=eps)"


def _channels(a: Args, name: str) -> str:
    """A per-channel vector, ready to broadcast against the input."""
    return f"{name}.reshape({', '.join(['1', '-1', *['1'] * (len(a.input.shape) - 2)])})"


def _numpy_batch_norm(a: Args) -> str:
    affine = _affine(a, _channels(a, "weight"), _channels(a, "bias"))
    if getattr(a, "training", False):
        return _numpy_norm(a, str((0, *range(2, len(a.input.shape)))), affine)
    return f"(input - {_channels(a, 'running_mean')}) / np.sqrt({_channels(a, 'running_var')} + eps){affine}"


def _paddle_batch_norm(a: Args) -> str:
    """Paddle's momentum is the weight of the old statistics, and statistics are always there."""
    channels = a.input.shape[1]
    stats = "running_mean, running_var"
    if not a.given("running_mean"):
        stats = f"paddle.zeros([{channels}]), paddle.ones([{channels}])"
    training = "training=training" if hasattr(a, "training") else "training=False"
    momentum = round(1 - a.momentum, 12)
    return f"F.batch_norm(input, {stats}, weight=weight, bias=bias, {training}, momentum={momentum}, epsilon=eps)"


def _batch_norm(a: Args) -> str:
    training = "training=training" if hasattr(a, "training") else "training=False"
    stats = "running_mean, running_var" if hasattr(a, "running_mean") else "None, None"
    options = f"weight=weight, bias=bias, {training}, momentum=momentum, eps=eps"
    return f"F.batch_norm(input, {stats}, {options})"


def _batch_moments(a: Args, root: str) -> str:
    """What `native_batch_norm` saves for the backward pass: nothing in inference, the batch's moments in training."""
    if not getattr(a, "training", False):
        nothing = f"{root}.zeros([0], dtype=input.dtype)"
        return f"{nothing}, {nothing}"
    axes = [0, *range(2, len(a.input.shape))]
    mean = f"input.mean({axes}, keepdim=True)"
    return f"input.mean({axes}), {root}.rsqrt((input - {mean}).square().mean({axes}) + eps)"


def _batch_terms(a: Args) -> int:
    return a.input.shape[0] * math.prod(a.input.shape[2:])


def _flow_layer(a: Args, layer: str) -> str:
    """A layer of OneFlow with our parameters in it."""
    lines = [f"out = flow.nn.{layer}"]
    lines += [line for name in ("weight", "bias") if a.given(name) for line in in_layer(name, name)]
    return "\n".join([*lines, "out = out(input)"])


def _flow_group_norm(a: Args) -> str:
    affine = a.given("weight") or a.given("bias")
    return _flow_layer(a, f"GroupNorm(num_groups, {a.input.shape[1]}, eps=eps, affine={affine})")


def _flow_instance_norm(a: Args) -> str:
    if not a.use_input_stats:
        raise Unsupported("OneFlow's instance norm does not read running statistics; use batch_norm in the model")
    rank = len(a.input.shape) - 2
    affine = a.given("weight") or a.given("bias")
    return _flow_layer(a, f"InstanceNorm{rank}d({a.input.shape[1]}, eps=eps, affine={affine})")


def _numpy_group_norm(a: Args) -> str:
    shape = a.input.shape
    affine = _affine(a, _channels(a, "weight"), _channels(a, "bias"))
    grouped = f"input.reshape({shape[0]}, num_groups, -1)"
    normalised = _numpy_norm(a, "-1", "").replace("input", grouped)
    return f"({normalised}).reshape({shape}){affine}"


def _numpy_instance_norm(a: Args) -> str:
    axes = str(tuple(range(2, len(a.input.shape))))
    return _numpy_norm(a, axes, _affine(a, _channels(a, "weight"), _channels(a, "bias")))


def _group_terms(a: Args) -> int:
    return math.prod(a.input.shape[1:]) // a.num_groups


def _eps(a: Args) -> str:
    return "eps" if a.given("eps") else str(EPSILON[a.input.dtype])


def _rsqrt(a: Args, root: str) -> str:
    keep = "keepdims" if root == "np" else "keepdim"
    axes = tuple(_last(a)) if root == "np" else _last(a)
    square = "(input * input)" if root == "np" else "input.square()"
    return f"{square}.mean({axes}, {keep}=True) + {_eps(a)}"


def _flow_rms_norm(a: Args) -> str:
    return _flow_layer(
        a, f"RMSNorm(normalized_shape, eps={_eps(a)}, elementwise_affine={a.given('weight')})"
    )


def _numpy_rms_norm(a: Args) -> str:
    return f"input / np.sqrt({_rsqrt(a, 'np')})" + (" * weight" if a.given("weight") else "")


def _paddle_rms_norm(a: Args) -> str:
    return f"F.rms_norm(input, normalized_shape, weight=weight, eps={_eps(a)})"


def _others(a: Args) -> list[int]:
    """Every axis but `dim`."""
    rank = len(a.v.shape)
    return [] if a.dim == -1 else [axis for axis in range(rank) if axis != a.dim % rank]


def _vector_norm(framework: str):
    """Norms of `v` over all axes but one."""
    text = {
        "paddle": "paddle.linalg.vector_norm(v, axis={axes}, keepdim=True)",
        "flow": "flow.linalg.vector_norm(v, dim={axes}, keepdim=True)",
        "np": "np.sqrt((v * v).sum({axes}, keepdims=True))",
    }[framework]
    return lambda a: text.format(axes=tuple(_others(a)) if framework == "np" else _others(a))


def _weight_norm(framework: str):
    norm = _vector_norm(framework)
    return lambda a: f"v * (g / {norm(a)})"


STATS = dict(running_mean=normal(4, seed=3), running_var=positive(4, seed=4))
AFFINE = dict(weight=normal(4, seed=1), bias=normal(4, seed=2))
NO_AFFINE = dict(weight=None, bias=None)
NO_STATS = dict(running_mean=None, running_var=None)


OPS = (
    op(
        "layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05)",
        kind="reduction",
        dims="input: *b n*, normalized_shape: n*, weight: n*, bias: n*",
        length=lambda a: math.prod(a.normalized_shape),
        torch="F.layer_norm(input, normalized_shape, weight=weight, bias=bias, eps=eps)",
        paddle="F.layer_norm(input, normalized_shape, weight=weight, bias=bias, epsilon=eps)",
        numpy=_numpy_layer_norm,
        samples=[
            dict(input=normal(2, 3, 5), normalized_shape=(5,), weight=normal(5, seed=1), bias=normal(5, seed=2)),
            dict(input=normal(2, 3, 5), normalized_shape=(3, 5), eps=1e-6),
            dict(input=normal(2, 3, 5), normalized_shape=(3, 5), weight=normal(3, 5, seed=1), bias=normal(3, 5)),
            dict(input=normal(2, 3, 5), normalized_shape=(5,), weight=normal(5, seed=1)),
        ],
        why="Paddle refuses a weight of two axes; OneFlow ignores a weight that comes without a bias",
    ),
    op(
        "native_layer_norm(input, normalized_shape, weight, bias, eps)",
        kind="reduction",
        dims="input: *b n*, normalized_shape: n*, weight: n*, bias: n*",
        length=lambda a: math.prod(a.normalized_shape),
        torch="torch.native_layer_norm(input, normalized_shape, weight, bias, eps)",
        paddle=lambda a: (
            "[F.layer_norm(input, normalized_shape, weight=weight, bias=bias, epsilon=eps), "
            f"{_moments(a, 'paddle')}]"
        ),
        oneflow=lambda a: (
            f"[F.layer_norm(input, normalized_shape, weight=weight, bias=bias, eps=eps), {_moments(a, 'flow')}]"
        ),
        numpy=lambda a: f"[{_numpy_layer_norm(a)}, {_numpy_moments(a)}]",
        samples=[
            dict(
                input=normal(2, 3, 5), normalized_shape=(5,), weight=normal(5, seed=1), bias=normal(5, seed=2),
                eps=1e-5, _outputs=3,
            ),
            dict(input=normal(2, 3, 5), normalized_shape=(3, 5), **NO_AFFINE, eps=1e-6, _outputs=3),
        ],
        why="the layer normalisation of a decomposed graph, with the moments that its backward pass reads",
    ),
    op(
        "batch_norm(input, weight=None, bias=None, running_mean=None, running_var=None, training=False, momentum=0.1, "
        "eps=1e-05)",
        kind="reduction",
        dims="input: b c s*, weight: c, bias: c, running_mean: c, running_var: c",
        length=lambda a: _batch_terms(a) if a.training else 1,
        torch=_batch_norm,
        paddle=_paddle_batch_norm,
        numpy=_numpy_batch_norm,
        samples=[
            dict(input=normal(2, 4, 3, 5), **AFFINE, **STATS, training=False, momentum=0.1, eps=1e-5),
            dict(input=normal(2, 4, 3, 5), **AFFINE, **STATS, training=True, momentum=0.1, eps=1e-3),
            dict(input=normal(3, 4), **NO_AFFINE, **STATS, training=False, momentum=0.1, eps=1e-5),
            dict(input=normal(3, 4, 5), **AFFINE, **NO_STATS, training=True, momentum=0.1, eps=1e-5),
        ],
        why="Paddle's momentum is one minus torch's, and it always has running statistics",
    ),
    op(
        "_native_batch_norm_legit_no_training(input, weight, bias, running_mean, running_var, momentum, eps)",
        kind="reduction",
        dims="input: b c s*, weight: c, bias: c, running_mean: c, running_var: c",
        length=lambda a: 1,
        torch=lambda a: f"[{_batch_norm(a)}, {_batch_moments(a, 'torch')}]",
        paddle=lambda a: f"[{_paddle_batch_norm(a)}, {_batch_moments(a, 'paddle')}]",
        oneflow=lambda a: f"[{_batch_norm(a)}, {_batch_moments(a, 'flow')}]",
        numpy=lambda a: f"[{_numpy_batch_norm(a)}, np.zeros([0]), np.zeros([0])]",
        samples=[
            dict(input=normal(2, 4, 3, 5), **AFFINE, **STATS, momentum=0.1, eps=1e-5, _outputs=3),
            dict(input=normal(2, 4, 3), **NO_AFFINE, **STATS, momentum=0.1, eps=1e-3, _outputs=3),
        ],
        why="batch normalisation of a decomposed graph in inference; the saved moments are empty",
    ),
    op(
        "native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)",
        kind="reduction",
        dims="input: b c s*, weight: c, bias: c, running_mean: c, running_var: c",
        length=lambda a: _batch_terms(a) if a.training else 1,
        torch="torch.native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)",
        paddle=lambda a: f"[{_paddle_batch_norm(a)}, {_batch_moments(a, 'paddle')}]",
        oneflow=lambda a: f"[{_batch_norm(a)}, {_batch_moments(a, 'flow')}]",
        samples=[
            dict(input=normal(2, 4, 3, 5), **AFFINE, **STATS, training=True, momentum=0.1, eps=1e-5, _outputs=3),
            dict(input=normal(2, 4, 3, 5), **AFFINE, **STATS, training=False, momentum=0.1, eps=1e-5, _outputs=3),
        ],
    ),
    op(
        "_native_batch_norm_legit.no_stats(input, weight, bias, training, momentum, eps)",
        kind="reduction",
        dims="input: b c s*, weight: c, bias: c",
        length=_batch_terms,
        torch=lambda a: f"[{_batch_norm(a)}, {_batch_moments(a, 'torch')}]",
        paddle=lambda a: f"[{_paddle_batch_norm(a)}, {_batch_moments(a, 'paddle')}]",
        oneflow=lambda a: f"[{_batch_norm(a)}, {_batch_moments(a, 'flow')}]",
        samples=[
            dict(input=normal(1, 4, 3, 5), **NO_AFFINE, training=True, momentum=0.1, eps=1e-5, _outputs=3),
            dict(input=normal(2, 4, 5), **AFFINE, training=True, momentum=0.1, eps=1e-3, _outputs=3),
        ],
        why="instance normalisation of a decomposed graph: images and channels share the channel axis",
    ),
    op(
        "group_norm(input, num_groups, weight=None, bias=None, eps=1e-05)",
        kind="reduction",
        dims="input: b c s*, weight: c, bias: c",
        length=_group_terms,
        torch="F.group_norm(input, num_groups, weight=weight, bias=bias, eps=eps)",
        paddle="F.group_norm(input, num_groups, epsilon=eps, weight=weight, bias=bias)",
        oneflow=_flow_group_norm,
        numpy=_numpy_group_norm,
        samples=[
            dict(input=normal(2, 4, 3, 5), num_groups=2, **AFFINE),
            dict(input=normal(2, 4, 3), num_groups=4, eps=1e-3),
        ],
    ),
    op(
        "native_group_norm(input, weight, bias, N, C, HxW, group, eps)",
        kind="reduction",
        dims="input: N C s*, weight: C, bias: C, N: N, C: C",
        length=lambda a: a.C * a.HxW // a.group,
        torch="torch.native_group_norm(input, weight, bias, N, C, HxW, group, eps)",
        paddle=lambda a: (
            "[F.group_norm(input, group, epsilon=eps, weight=weight, bias=bias), "
            f"{_group_moments(a, 'paddle')}]"
        ),
        oneflow=_flow_native_group_norm,
        samples=[
            dict(input=normal(2, 4, 3, 5), **AFFINE, N=2, C=4, HxW=15, group=2, eps=1e-5, _outputs=3),
            dict(input=normal(2, 4, 3), **NO_AFFINE, N=2, C=4, HxW=3, group=4, eps=1e-3, _outputs=3),
        ],
        why="group normalisation of a decomposed graph",
    ),
    op(
        "instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps)",
        kind="reduction",
        dims="input: b c s*, weight: c, bias: c, running_mean: c, running_var: c",
        length=lambda a: math.prod(a.input.shape[2:]),
        torch=(
            "F.instance_norm(input, running_mean=running_mean, running_var=running_var, weight=weight, bias=bias, "
            "use_input_stats=use_input_stats, momentum=momentum, eps=eps)"
        ),
        paddle=_paddle_instance_norm,
        oneflow=_flow_instance_norm,
        numpy=_numpy_instance_norm,
        samples=[
            dict(input=normal(2, 4, 3, 5), **AFFINE, **NO_STATS, use_input_stats=True, momentum=0.1, eps=1e-5),
            dict(input=normal(2, 4, 5), **NO_AFFINE, **NO_STATS, use_input_stats=True, momentum=0.1, eps=1e-3),
        ],
        why="Paddle and OneFlow normalise by the moments of the input only",
    ),
    op(
        "rms_norm(input, normalized_shape, weight=None, eps=None)",
        kind="reduction",
        dims="input: *b n*, normalized_shape: n*, weight: n*",
        length=lambda a: math.prod(a.normalized_shape),
        torch="F.rms_norm(input, normalized_shape, weight=weight, eps=eps)",
        paddle=_paddle_rms_norm,
        oneflow=_flow_rms_norm,
        numpy=_numpy_rms_norm,
        samples=[
            dict(input=normal(2, 3, 5), normalized_shape=(5,), weight=normal(5, seed=1), eps=1e-5),
            dict(input=normal(2, 3, 5), normalized_shape=(3, 5), eps=1e-3),
        ],
        why="neither Paddle nor OneFlow has a CPU kernel; without `eps` torch takes the machine epsilon",
    ),
    op(
        "_weight_norm(v, g, dim=0)",
        kind="reduction",
        length=lambda a: math.prod(a.v.shape),
        torch="torch._weight_norm(v, g, dim=dim)",
        paddle=_weight_norm("paddle"),
        oneflow=_weight_norm("flow"),
        numpy=_weight_norm("np"),
        samples=[
            dict(v=normal(4, 3, 2), g=positive(4, 1, 1, seed=1)),
            dict(v=normal(4, 3), g=positive(1, 3, seed=1), dim=1),
        ],
        why="the parametrisation of `weight_norm`",
    ),
    op(
        "_weight_norm_interface(v, g, dim=0)",
        kind="reduction",
        length=lambda a: math.prod(a.v.shape),
        torch="torch._weight_norm_interface(v, g, dim=dim)",
        paddle=lambda a: f"[{_weight_norm('paddle')(a)}, {_vector_norm('paddle')(a)}]",
        oneflow=lambda a: f"[{_weight_norm('flow')(a)}, {_vector_norm('flow')(a)}]",
        numpy=lambda a: f"[{_weight_norm('np')(a)}, {_vector_norm('np')(a)}]",
        samples=[
            dict(v=normal(4, 3, 2), g=positive(4, 1, 1, seed=1), _outputs=2),
            dict(v=normal(4, 3), g=positive(1, 3, seed=1), dim=1, _outputs=2),
        ],
    ),
)
