"""Random draws.

Two frameworks never draw the same numbers, so these are pinned: shape and type are compared, and later steps read the
reference's draw on both sides.
"""

from __future__ import annotations

from minrepro.errors import Unsupported
from minrepro.ir.dtype import dtype
from minrepro.ops.absent import absent
from minrepro.ops.phrase import SELF, written
from minrepro.ops.row import Args, Op, Spelling, op
from minrepro.ops.sample import normal, positive, unit

DROP = "in eval mode this is the identity"
DOUBLE, SHORT = dtype("float64"), dtype("int32")


def _shape(name: str) -> Op:
    call = f"{name}(size, dtype=dtype)"
    return op(
        f"{name}(size, dtype=None)", kind="random", torch=f"torch.{call}", paddle=f"paddle.{call}",
        samples=[dict(size=(2, 3)), dict(size=(4,), dtype=DOUBLE)],
    )


def _like(name: str, paddle: str, flow: str) -> Op:
    return op(
        f"{name}(self, dtype=None)", kind="random", torch=f"torch.{name}(self, dtype=dtype)",
        paddle=_typed(paddle), oneflow=_typed(flow),
        samples=[dict(self=normal(2, 3)), dict(self=normal(4, of="float64"))],
    )


def _typed(text: str) -> Spelling:
    return lambda a: text % ("dtype" if a.given("dtype") else "self.dtype")


def _whole(call: str, size: str, default: str) -> Spelling:
    """`randint`: int64 unless told otherwise."""
    return lambda a: f"{call}(low, high, {size}, dtype={'dtype' if a.given('dtype') else default})"


def _dropped(name: str, samples: list[dict], oneflow: Spelling | str = "") -> Op:
    """A dropout that torch and Paddle call alike."""
    call = f"F.{name}(input, p=p, training=train)"
    own = {"oneflow": oneflow} if oneflow else {}
    return op(f"{name}(input, p, train)", kind="random", samples=samples, why=DROP, torch=call, paddle=call, **own)


def _native(root: str, keep: str) -> Spelling:
    """The dropped-out input and the mask of what was kept."""

    def spell(a: Args) -> str:
        if a.train is False:
            return f"(input, {root}.ones_like(input, dtype={keep}))"
        return "kept = F.dropout(input, p=p, training=True)\nout = (kept, kept != 0)"

    return spell


def _feature(framework: str) -> Spelling:
    """Channels are dropped as a whole; the function depends on the rank."""

    def spell(a: Args) -> str:
        if framework == "OneFlow" or len(a.input.shape) not in (4, 5):
            if not a.train:
                return "F.dropout(input, p=p, training=train)"
            raise Unsupported(f"{framework} has no dropout of whole channels for {len(a.input.shape)} axes")
        return f"F.dropout{len(a.input.shape) - 2}d(input, p=p, training=train)"

    return spell


def _normal(a: Args) -> str:
    if a.given("size"):
        return "torch.normal(mean, std, size, dtype=dtype)"
    return "torch.normal(mean, std)"


def _shaped_normal(text: str, framework: str) -> Spelling:
    refuse = absent(framework, "normal with tensors for mean or deviation")
    return lambda a: text if a.given("size") else refuse(a)


INPUTS = [dict(input=normal(2, 3), p=0.5, train=False), dict(input=normal(4, 5), p=0.25, train=True)]
IMAGES = [dict(input=normal(2, 3, 4, 4), p=0.5, train=False), dict(input=normal(2, 3, 4, 4), p=0.5, train=True)]

OPS = (
    _shape("rand"),
    _shape("randn"),
    _like("rand_like", "paddle.rand(self.shape, dtype=%s)", "flow.rand(self.shape, dtype=%s)"),
    _like("randn_like", "paddle.randn(self.shape, dtype=%s)", "flow.randn(self.shape, dtype=%s)"),
    op(
        "randint(high, size, low=0, dtype=None)",
        kind="random",
        torch=_whole("torch.randint", "size", "torch.int64"),
        paddle=_whole("paddle.randint", "shape=size", "'int64'"),
        oneflow=_whole("flow.randint", "size", "flow.int64"),
        samples=[dict(high=5, size=(2, 3)), dict(low=1, high=5, size=(4,), dtype=SHORT)],
    ),
    op(
        "randint_like(self, high, low=0, dtype=None)",
        kind="random",
        torch="torch.randint_like(self, low, high, dtype=dtype)",
        paddle="paddle.randint_like(self, low, high, dtype=dtype)",
        oneflow=_typed("flow.randint(low, high, self.shape).to(%s)"),
        samples=[dict(self=normal(2, 3), high=5), dict(self=normal(2), low=1, high=3)],
    ),
    op(
        "randperm(n, dtype=None)",
        kind="random",
        torch="torch.randperm(n, dtype=dtype)", paddle="paddle.randperm(n, dtype=dtype)",
        oneflow="flow.randperm(n, dtype=dtype)",
        samples=[dict(n=5), dict(n=4, dtype=SHORT)],
    ),
    op(
        "bernoulli(self, p=None)",
        kind="random",
        torch="torch.bernoulli(self, p=p)",
        paddle=lambda a: "paddle.bernoulli(paddle.full_like(self, p))" if a.given("p") else "paddle.bernoulli(self)",
        samples=[dict(self=unit(2, 3)), dict(self=unit(4), p=0.25)],
    ),
    op(
        "multinomial(self, num_samples, replacement=False)",
        kind="random",
        torch="torch.multinomial(self, num_samples, replacement=replacement)",
        paddle="paddle.multinomial(self, num_samples=num_samples, replacement=replacement)",
        samples=[
            dict(self=unit(4), num_samples=2, replacement=True), dict(self=unit(2, 3), num_samples=4, replacement=True),
        ],
        why="without replacement OneFlow 0.9 waits for a thread pool, which a forked process does not have",
    ),
    op(
        "normal(mean, std=1.0, size=None, dtype=None)",
        kind="random",
        torch=_normal,
        paddle=_shaped_normal("mean + std * paddle.randn(size, dtype=dtype)", "Paddle"),
        oneflow=_shaped_normal("flow.normal(mean, std, size, dtype=dtype)", "OneFlow"),
        samples=[dict(mean=0.0, std=2.0, size=(2, 3)), dict(mean=1.0, std=0.5, size=(4,), dtype=DOUBLE)],
    ),
    op(
        "poisson(self)",
        kind="random",
        torch="torch.poisson(self)", paddle="paddle.poisson(self)", oneflow=absent("OneFlow", "poisson"),
        samples=[dict(self=positive(2, 3)), dict(self=positive(4, of="float64"))],
    ),
    _dropped("dropout", INPUTS),
    op(
        "dropout_(self, p, train)",
        kind="random",
        torch=written("F.dropout(self, p=p, training=train, inplace=True)"),
        paddle=written("self.set_value(F.dropout(self, p=p, training=train))"),
        oneflow=written("self.copy_(F.dropout(self, p=p, training=train))"),
        mutates=SELF,
        samples=[dict(self=normal(2, 3), p=0.5, train=False), dict(self=normal(4, 5), p=0.25, train=True)],
        why=DROP,
    ),
    _dropped("alpha_dropout", INPUTS, oneflow=absent("OneFlow", "alpha_dropout")),
    _dropped("feature_alpha_dropout", IMAGES, oneflow=absent("OneFlow", "feature_alpha_dropout")),
    op(
        "feature_dropout(input, p, train)",
        kind="random",
        torch="torch.feature_dropout(input, p, train)", paddle=_feature("Paddle"), oneflow=_feature("OneFlow"),
        samples=IMAGES,
        why=DROP,
    ),
    op(
        "native_dropout(input, p, train)",
        kind="random",
        torch="torch.native_dropout(input, p, train)",
        paddle=_native("paddle", "'bool'"), oneflow=_native("flow", "flow.bool"),
        samples=[{**sample, "_outputs": 2} for sample in INPUTS],
        why=DROP,
    ),
)
