"""Recurrent cells and layers.

Paddle and OneFlow have them as layers, so a port makes the layer and puts the weights in. All three frameworks keep the
weights in the same order and the gates in the same order.
"""

from __future__ import annotations

from minrepro.errors import Unsupported
from minrepro.ops.phrase import in_layer
from minrepro.ops.row import Args, Op, Spelling, op
from minrepro.ops.sample import normal

WEIGHTS = {"w_ih": "weight_ih", "w_hh": "weight_hh", "b_ih": "bias_ih", "b_hh": "bias_hh"}
GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}
CELLS = {"lstm": "LSTMCell", "gru": "GRUCell", "rnn_tanh": "SimpleRNNCell", "rnn_relu": "SimpleRNNCell"}
LAYERS = {"lstm": "LSTM", "gru": "GRU", "rnn_tanh": "SimpleRNN", "rnn_relu": "SimpleRNN"}


def _activation(kind: str, framework: str) -> str:
    if kind != "rnn_relu":
        return ""
    return ", nonlinearity='relu'" if framework == "flow" else ", activation='relu'"


def _paddle_cell(kind: str) -> Spelling:
    def spell(a: Args) -> str:
        if len(a.input.shape) != 2:
            raise Unsupported("Paddle's cells ask for a batch; add the axis in the model")
        bias = "" if a.given("b_ih") else ", bias_ih_attr=False, bias_hh_attr=False"
        size = f"{a.w_ih.shape[1]}, {a.w_hh.shape[1]}{_activation(kind, 'paddle')}{bias}"
        lines = [f"out = paddle.nn.{CELLS[kind]}({size})"]
        lines += [f"out.{name}.set_value({hole})" for hole, name in WEIGHTS.items() if a.given(hole)]
        state = "(hx[0], hx[1])" if kind == "lstm" else "hx"
        return "\n".join([*lines, f"out = out(input, {state})", f"out = {'out[1]' if kind == 'lstm' else 'out[0]'}"])

    return spell


def _flow_cell(kind: str) -> Spelling:
    def spell(a: Args) -> str:
        name = CELLS[kind].replace("Simple", "")
        size = f"{a.w_ih.shape[1]}, {a.w_hh.shape[1]}, bias={a.given('b_ih')}{_activation(kind, 'flow')}"
        lines = [f"out = flow.nn.{name}({size})"]
        lines += [line for hole, name in WEIGHTS.items() if a.given(hole) for line in in_layer(hole, name)]
        state = "(hx[0], hx[1])" if kind == "lstm" else "hx"
        return "\n".join([*lines, f"out = out(input, {state})"])

    return spell


def _cell(kind: str) -> Op:
    rows = GATES[kind] * 4
    state = (normal(2, 4, seed=1), normal(2, 4, seed=5)) if kind == "lstm" else normal(2, 4, seed=1)
    plain = dict(input=normal(2, 3), hx=state, w_ih=normal(rows, 3, seed=2), w_hh=normal(rows, 4, seed=3))
    outputs = dict(_outputs=2) if kind == "lstm" else {}
    return op(
        f"{kind}_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None)",
        kind="reduction",
        length=lambda a: a.w_ih.shape[1] + a.w_hh.shape[1] + 2,
        torch=f"torch.{kind}_cell(input, hx, w_ih, w_hh, b_ih, b_hh)",
        paddle=_paddle_cell(kind),
        oneflow=_flow_cell(kind),
        samples=[
            dict(plain, b_ih=normal(rows, seed=4), b_hh=normal(rows, seed=6), **outputs),
            dict(plain, **outputs),
        ],
    )


def _names(a: Args) -> list[str]:
    """Names of the weights of a layer, in the order of `params`."""
    parts = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")[: 4 if a.has_biases else 2]
    ways = ("", "_reverse")[: 2 if a.bidirectional else 1]
    return [f"{part}_l{layer}{way}" for layer in range(a.num_layers) for way in ways for part in parts]


def _checked(a: Args, framework: str) -> None:
    if len(a.input.shape) != 3:
        raise Unsupported(f"{framework}'s recurrent layers ask for a batch; add the axis in the model")
    if a.train and a.dropout:
        raise Unsupported("dropout between recurrent layers draws random numbers; set the model to evaluation")


def _paddle_layer(kind: str) -> Spelling:
    def spell(a: Args) -> str:
        _checked(a, "Paddle")
        size = f"{a.input.shape[-1]}, {a.params[1].shape[1]}, num_layers=num_layers"
        size += ", direction='bidirect'" if a.bidirectional else ""
        size += "" if a.batch_first else ", time_major=True"
        size += _activation(kind, "paddle") + ("" if a.has_biases else ", bias_ih_attr=False, bias_hh_attr=False")
        lines = [f"out = paddle.nn.{LAYERS[kind]}({size})"]
        lines += [f"out.{name}.set_value(params[{i}])" for i, name in enumerate(_names(a))]
        if kind == "lstm":
            return "\n".join([*lines, "out = out(input, (hx[0], hx[1]))", "out = [out[0], *out[1]]"])
        return "\n".join([*lines, "out = out(input, hx)"])

    return spell


def _flow_layer(kind: str) -> Spelling:
    def spell(a: Args) -> str:
        _checked(a, "OneFlow")
        size = f"{a.input.shape[-1]}, {a.params[1].shape[1]}, num_layers=num_layers, bias=has_biases"
        size += ", batch_first=batch_first, bidirectional=bidirectional" + _activation(kind, "flow")
        lines = [f"out = flow.nn.{LAYERS[kind].replace('Simple', '')}({size})"]
        lines += [line for i, name in enumerate(_names(a)) for line in in_layer(f"params[{i}]", name)]
        if kind == "lstm":
            return "\n".join([*lines, "out = out(input, (hx[0], hx[1]))", "out = [out[0], *out[1]]"])
        return "\n".join([*lines, "out = out(input, hx)"])

    return spell


def _params(kind: str, layers: int, ways: int, biases: bool) -> tuple:
    rows, params = GATES[kind] * 4, []
    for layer in range(layers):
        for way in range(ways):
            seed = 10 * layer + 5 * way
            width = 3 if layer == 0 else 4 * ways
            params += [normal(rows, width, seed=seed), normal(rows, 4, seed=seed + 1)]
            params += [normal(rows, seed=seed + 2), normal(rows, seed=seed + 3)] if biases else []
    return tuple(params)


def _layer(kind: str) -> Op:
    def sample(layers: int, both: bool, batch_first: bool, biases: bool) -> dict:
        states = layers * (2 if both else 1)
        hidden = normal(states, 2, 4, seed=30)
        return dict(
            input=normal(2, 5, 3) if batch_first else normal(5, 2, 3),
            hx=(hidden, normal(states, 2, 4, seed=31)) if kind == "lstm" else hidden,
            params=_params(kind, layers, 2 if both else 1, biases), has_biases=biases, num_layers=layers, dropout=0.0,
            train=False, bidirectional=both, batch_first=batch_first, _outputs=3 if kind == "lstm" else 2,
        )

    return op(
        f"{kind}.input(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)",
        kind="reduction",
        length=lambda a: (a.params[0].shape[1] + a.params[1].shape[1] + 2) * max(1, max(a.input.shape[:-1])),
        torch=(
            f"torch.{kind}(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)"
        ),
        paddle=_paddle_layer(kind),
        oneflow=_flow_layer(kind),
        samples=[sample(1, False, True, True), sample(2, True, False, True), sample(1, False, False, False)],
        why="Paddle crashes without biases",
    )


OPS = (*(_cell(kind) for kind in GATES), *(_layer(kind) for kind in GATES))
