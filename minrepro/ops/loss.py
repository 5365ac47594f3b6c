"""Losses. ATen counts the reductions 0, 1, 2; every framework writes them as 'none', 'mean', 'sum'."""

from __future__ import annotations

import math
import re

from minrepro.ops.absent import absent
from minrepro.ops.phrase import is_tensor
from minrepro.ops.row import Args, Op, Spelling, op
from minrepro.ops.sample import integers, normal, positive, unit, values

REDUCTIONS = ("none", "mean", "sum")


def _named(text: str) -> Spelling:
    """The text with ``reduction=...`` written as a word."""
    return lambda a: re.sub(r"\breduction=reduction\b", f"reduction={REDUCTIONS[a.reduction]!r}", text)


def _numpy(terms: str) -> Spelling:
    """NumPy's mean or sum of the terms."""
    return lambda a: terms if a.reduction == 0 else f"np.{REDUCTIONS[a.reduction]}({terms})"


def _terms(a: Args) -> int:
    """The size of the first argument, or one where nothing is added up."""
    first = next(iter(vars(a).values()))
    return math.prod(first.shape) if a.reduction else 1


def _loss(signature: str, numpy: Spelling | None, samples: list[dict], why: str = "", **own: str | Spelling) -> Op:
    """A loss of element pairs, kept as they are, averaged or summed."""
    spelled = {name: _named(text) if isinstance(text, str) else text for name, text in own.items()}
    if numpy is not None:
        spelled["numpy"] = numpy
    return op(signature, kind="reduction", dims="broadcast", length=_terms, samples=samples, why=why, **spelled)


def _pairs(*settings: dict, draw=normal, target=normal) -> list[dict]:
    """One sample per setting, with a 1-d, then 2-d pairs."""
    shapes = ((4,), (2, 3), (5,))
    return [
        dict(self=draw(*shape), target=target(*shape, seed=1), **more)
        for shape, more in zip(shapes, ({}, *settings))
    ]


SUMS = ({"reduction": 2}, {"reduction": 0})
SIGNS = values([1.0, -1.0, 1.0, -1.0])
CLASSES = integers(4, high=3)
IGNORED = values([0, 2, 1, 0], "int64")


def _same_call(name: str, extra: str = "") -> dict[str, str]:
    """Texts where torch and Paddle name the arguments alike."""
    call = f"F.{name}(self, target, reduction=reduction{extra})"
    return {"torch": call, "paddle": call}


def _flow_huber(a: Args) -> str:
    loss = _named("F.smooth_l1_loss(self, target, reduction=reduction, beta=delta)")(a)
    return loss if a.delta == 1 else f"delta * {loss}"


def _paddle_smooth(a: Args) -> str:
    return _named("F.smooth_l1_loss(self, target, reduction=reduction, delta=beta)")(a) + (
        "" if a.beta == 1 else " / beta"
    )


def _paddle_cross_entropy(a: Args) -> str:
    """Paddle wants to be told the class axis and whether the target holds probabilities."""
    words = ["weight=weight", "ignore_index=ignore_index", "reduction=reduction"]
    words += ["soft_label=True"] if a.target.dtype.startswith(("float", "bfloat")) else []
    words += ["axis=1"] if len(a.self.shape) > 2 else []
    words += ["label_smoothing=label_smoothing"]
    return _named(f"F.cross_entropy(self, target, {', '.join(words)})")(a)


def _picked(a: Args) -> int:
    """Terms of a classification loss: the logarithm of a sum over classes, added up over the samples."""
    return a.self.shape[min(1, len(a.self.shape) - 1)] * (math.prod(a.target.shape) if a.reduction else 1)


def _nll(name: str, samples: list[dict]) -> Op:
    """Negative log likelihood, under the name of one of its overloads."""
    options = "weight=weight, ignore_index=ignore_index, reduction=reduction"
    return op(
        f"{name}(self, target, weight=None, reduction=1, ignore_index=-100)",
        kind="reduction",
        length=_picked,
        torch=_named(f"F.nll_loss(self, target, {options})"), paddle=_named(f"F.nll_loss(self, target, {options})"),
        oneflow=_named(f"flow.nn.NLLLoss({options})(self, target)"),
        samples=samples,
    )


def _ctc(framework: str) -> Spelling:
    """CTC with lengths as tensors, which is the only form that Paddle and OneFlow take."""

    def spell(a: Args) -> str:
        lengths = ", ".join(
            name if is_tensor(getattr(a, name)) else f"{TENSOR[framework]}({name}, dtype={INT64[framework]})"
            for name in ("input_lengths", "target_lengths")
        )
        if framework == "paddle":
            text = f"F.ctc_loss(log_probs, targets, {lengths}, blank=blank, reduction=reduction)"
        else:
            text = (
                "flow.nn.CTCLoss(blank=blank, reduction=reduction, zero_infinity=zero_infinity)"
                f"(log_probs, targets, {lengths})"
            )
        return _named(text)(a)

    return spell


TENSOR = {"paddle": "paddle.to_tensor", "oneflow": "flow.tensor"}
INT64 = {"paddle": "'int64'", "oneflow": "flow.int64"}
LOG_PROBS = values([[[math.log(0.5), math.log(0.25), math.log(0.25)]] * 2] * 5)

OPS = (
    _loss(
        "mse_loss(self, target, reduction=1)", _numpy("(self - target) ** 2"), _pairs(*SUMS), **_same_call("mse_loss")
    ),
    _loss(
        "l1_loss(self, target, reduction=1)", _numpy("np.abs(self - target)"), _pairs(*SUMS), **_same_call("l1_loss")
    ),
    _loss(
        "smooth_l1_loss(self, target, reduction=1, beta=1.0)",
        _numpy(
            "np.where(np.abs(self - target) < beta, (self - target) ** 2 / (2 * beta),"
            " np.abs(self - target) - beta / 2)"
        ),
        _pairs({"reduction": 2, "beta": 0.5}, {"reduction": 0}),
        torch="F.smooth_l1_loss(self, target, reduction=reduction, beta=beta)", paddle=_paddle_smooth,
    ),
    _loss(
        "huber_loss(self, target, reduction=1, delta=1.0)",
        _numpy(
            "np.where(np.abs(self - target) < delta, (self - target) ** 2 / 2,"
            " delta * (np.abs(self - target) - delta / 2))"
        ),
        _pairs({"reduction": 2, "delta": 0.5}, {"reduction": 0}),
        torch="F.huber_loss(self, target, reduction=reduction, delta=delta)",
        paddle="F.smooth_l1_loss(self, target, reduction=reduction, delta=delta)", oneflow=_flow_huber,
    ),
    op(
        "cross_entropy_loss(self, target, weight=None, reduction=1, ignore_index=-100, label_smoothing=0.0)",
        kind="reduction",
        length=_picked,
        torch=_named(
            "F.cross_entropy(self, target, weight=weight, ignore_index=ignore_index, reduction=reduction,"
            " label_smoothing=label_smoothing)"
        ),
        paddle=_paddle_cross_entropy,
        samples=[
            dict(self=normal(4, 3), target=CLASSES),
            dict(self=normal(4, 3), target=CLASSES, weight=positive(3), reduction=2),
            dict(self=normal(4, 3), target=IGNORED, ignore_index=2),
            dict(self=normal(4, 3), target=CLASSES, label_smoothing=0.1, reduction=2),
            dict(self=normal(2, 3, 4), target=integers(2, 4, high=3)),
            dict(self=normal(2, 3), target=values([[0.2, 0.3, 0.5], [0.25, 0.25, 0.5]])),
        ],
        why="with label_smoothing, Paddle 3.3 forgets ignore_index and keeps an axis of size 1 if nothing is reduced",
    ),
    _nll("nll_loss_nd", [
        dict(self=normal(4, 3), target=CLASSES), dict(self=normal(4, 3), target=IGNORED, ignore_index=2, reduction=2),
        dict(self=normal(2, 3, 4), target=integers(2, 4, high=3), weight=positive(3)),
    ]),
    _nll("nll_loss", [
        dict(self=normal(4, 3), target=CLASSES),
        dict(self=normal(4, 3), target=CLASSES, weight=positive(3), reduction=0),
    ]),
    _nll("nll_loss2d", [
        dict(self=normal(2, 3, 2, 2), target=integers(2, 2, 2, high=3)),
        dict(self=normal(2, 3, 2, 2), target=integers(2, 2, 2, high=3), reduction=2),
    ]),
    _loss(
        "binary_cross_entropy(self, target, weight=None, reduction=1)",
        _numpy("-(target * np.log(self) + (1 - target) * np.log1p(-self)) * (1 if weight is None else weight)"),
        _pairs({"reduction": 2, "weight": positive(2, 3, seed=2)}, {"reduction": 0}, draw=unit, target=unit),
        **_same_call("binary_cross_entropy", ", weight=weight"),
    ),
    _loss(
        "binary_cross_entropy_with_logits(self, target, weight=None, pos_weight=None, reduction=1)",
        None,
        _pairs({"reduction": 2, "weight": positive(2, 3, seed=2)}, {"pos_weight": positive(5, seed=2)}, target=unit),
        **_same_call("binary_cross_entropy_with_logits", ", weight=weight, pos_weight=pos_weight"),
    ),
    _loss(
        "kl_div(self, target, reduction=1, log_target=False)",
        _numpy("np.exp(target) * (target - self) if log_target else target * (np.log(target) - self)"),
        _pairs({"reduction": 2}, {"reduction": 0, "log_target": True}, target=unit),
        **_same_call("kl_div", ", log_target=log_target"),
    ),
    _loss(
        "soft_margin_loss(self, target, reduction=1)", _numpy("np.log1p(np.exp(-target * self))"),
        [dict(self=normal(4), target=SIGNS), dict(self=normal(4), target=SIGNS, reduction=0)],
        oneflow=absent("OneFlow", "soft_margin_loss"), **_same_call("soft_margin_loss"),
    ),
    _loss(
        "hinge_embedding_loss(self, target, margin=1.0, reduction=1)",
        _numpy("np.where(target == 1, self, np.maximum(0, margin - self))"),
        [dict(self=normal(4), target=SIGNS), dict(self=normal(4), target=SIGNS, margin=0.5, reduction=2)],
        oneflow=absent("OneFlow", "hinge_embedding_loss"), **_same_call("hinge_embedding_loss", ", margin=margin"),
    ),
    _loss(
        "margin_ranking_loss(input1, input2, target, margin=0.0, reduction=1)",
        _numpy("np.maximum(0, -target * (input1 - input2) + margin)"),
        [
            dict(input1=normal(4), input2=normal(4, seed=1), target=SIGNS),
            dict(input1=normal(4), input2=normal(4, seed=1), target=SIGNS, margin=0.5, reduction=0),
        ],
        torch="F.margin_ranking_loss(input1, input2, target, margin=margin, reduction=reduction)",
        paddle="F.margin_ranking_loss(input1, input2, target, margin=margin, reduction=reduction)",
        oneflow="flow.nn.MarginRankingLoss(margin=margin, reduction=reduction)(input1, input2, target)",
    ),
    _loss(
        "cosine_embedding_loss(input1, input2, target, margin=0.0, reduction=1)",
        None,
        [
            dict(input1=normal(4, 3), input2=normal(4, 3, seed=1), target=SIGNS),
            dict(input1=normal(4, 3), input2=normal(4, 3, seed=1), target=SIGNS, margin=0.25, reduction=0),
        ],
        torch="F.cosine_embedding_loss(input1, input2, target, margin=margin, reduction=reduction)",
        paddle="F.cosine_embedding_loss(input1, input2, target, margin=margin, reduction=reduction)",
        oneflow=absent("OneFlow", "cosine_embedding_loss"),
    ),
    _loss(
        "triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2.0, eps=1e-06, swap=False, reduction=1)",
        None,
        [
            dict(anchor=normal(4, 3), positive=normal(4, 3, seed=1), negative=normal(4, 3, seed=2)),
            dict(
                anchor=normal(4, 3), positive=normal(4, 3, seed=1), negative=normal(4, 3, seed=2), margin=0.5,
                swap=True, reduction=0,
            ),
        ],
        torch="F.triplet_margin_loss(anchor, positive, negative, margin=margin, p=p, eps=eps, swap=swap,"
        " reduction=reduction)",
        paddle="F.triplet_margin_loss(anchor, positive, negative, margin=margin, p=p, epsilon=eps, swap=swap,"
        " reduction=reduction)",
    ),
    _loss(
        "multi_margin_loss(self, target, p=1, margin=1, weight=None, reduction=1)",
        None,
        [
            dict(self=normal(4, 3), target=CLASSES),
            dict(self=normal(4, 3), target=CLASSES, p=2, margin=0.5, weight=positive(3), reduction=2),
        ],
        oneflow=absent("OneFlow", "multi_margin_loss"),
        **_same_call("multi_margin_loss", ", p=p, margin=margin, weight=weight"),
    ),
    _loss(
        "multilabel_margin_loss(self, target, reduction=1)",
        None,
        [
            dict(self=normal(2, 3), target=values([[0, 2, -1], [1, -1, 0]], "int64")),
            dict(self=normal(2, 3), target=values([[0, 2, -1], [1, -1, 0]], "int64"), reduction=0),
        ],
        torch="F.multilabel_margin_loss(self, target, reduction=reduction)",
        paddle="F.multi_label_margin_loss(self, target, reduction=reduction)",
        oneflow=absent("OneFlow", "multilabel_margin_loss"),
    ),
    _loss(
        "poisson_nll_loss(input, target, log_input, full, eps, reduction)",
        None,
        [
            dict(input=normal(4), target=positive(4), log_input=True, full=False, eps=1e-8, reduction=1),
            dict(input=positive(4), target=positive(4, seed=1), log_input=False, full=False, eps=1e-6, reduction=2),
        ],
        torch="F.poisson_nll_loss(input, target, log_input=log_input, full=full, eps=eps, reduction=reduction)",
        paddle="F.poisson_nll_loss(input, target, log_input=log_input, full=full, epsilon=eps, reduction=reduction)",
        oneflow=absent("OneFlow", "poisson_nll_loss"),
    ),
    op(
        "ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction=1, zero_infinity=False)",
        kind="reduction",
        length=lambda a: math.prod(a.log_probs.shape),
        torch=_named(
            "F.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=blank, reduction=reduction,"
            " zero_infinity=zero_infinity)"
        ),
        paddle=_ctc("paddle"), oneflow=_ctc("oneflow"),
        samples=[
            dict(
                log_probs=LOG_PROBS, targets=values([[1, 2], [2, 1]], "int32"),
                input_lengths=values([5, 5], "int64"), target_lengths=values([2, 2], "int64"),
            ),
            dict(
                log_probs=LOG_PROBS, targets=values([[1, 2], [2, 1]], "int32"), input_lengths=(5, 4),
                target_lengths=(2, 1), reduction=0,
            ),
        ],
    ),
)
