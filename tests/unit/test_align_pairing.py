"""Pairing of module trees: by map, by name, by kind and order; never by position alone."""

from __future__ import annotations

import pytest

from minrepro.align.pairing import Module, pair, rules, translated
from minrepro.errors import UsageError


def tree(**types: tuple[str, tuple]) -> dict[str, Module]:
    """Path (with _ for a dot) -> (type, shape of its weight, or ())."""
    found = {"": Module("", "Net", (), (), {})}
    for name, (kind, shape) in types.items():
        path = name.replace("_", ".")
        found[path] = Module(path, kind, (("weight", shape),) if shape else (), (), {})
    return found


@pytest.mark.parametrize("path, expected", [
    ("encoder.layer.0", "encoder.layers.0"),
    ("encoder.layer.3.output.dense", "encoder.layers.3.linear2"),
    ("encoder.layer.3.output.norm", "encoder.layers.3.output.norm"),
    ("pooler", "pooler"),
])
def test_the_most_specific_rule_wins_and_the_rest_of_a_path_stays(path, expected):
    mapped = rules(["encoder.layer.*=encoder.layers.*", "encoder.layer.*.output.dense=encoder.layers.*.linear2"])
    assert translated(path, mapped) == expected


@pytest.mark.parametrize("text", ["nonsense", "=b", "a.*=b"])
def test_a_rule_that_cannot_be_meant_is_refused(text):
    with pytest.raises(UsageError):
        rules([text])


def test_a_rule_for_nothing_says_what_there_is():
    with pytest.raises(UsageError, match="covers no module"):
        pair(tree(a=("torch.nn.Linear", (2, 3))), tree(a=("paddle.nn.Linear", (3, 2))), rules(["x.*=y.*"]))
    with pytest.raises(UsageError, match="leads to no module"):
        pair(tree(a=("torch.nn.Linear", (2, 3))), tree(a=("paddle.nn.Linear", (3, 2))), rules(["a=z"]))


def test_other_names_are_paired_by_kind_and_order_where_both_sides_have_equally_many():
    left = tree(fc1=("torch.nn.Linear", (2, 3)), fc2=("torch.nn.Linear", (2, 3)), norm=("torch.nn.LayerNorm", (3,)))
    right = tree(a=("paddle.nn.Linear", (3, 2)), b=("paddle.nn.Linear", (3, 2)), c=("paddle.nn.LayerNorm", (3,)))
    found = pair(left, right)
    assert found.modules == {"": "", "fc1": "a", "fc2": "b", "norm": "c"}
    assert not found.reference and not found.candidate


def test_nothing_is_paired_by_position_alone():
    left = tree(fc1=("torch.nn.Linear", (2, 3)), fc2=("torch.nn.Linear", (2, 3)))
    right = tree(a=("paddle.nn.Linear", (3, 2)))
    found = pair(left, right)
    assert found.modules == {"": ""}
    assert found.reference == ("fc1", "fc2") and found.candidate == ("a",)


def test_layers_that_are_only_alike_share_their_weights_and_are_not_compared():
    left, right = tree(bn=("torch.nn.BatchNorm2d", (3,))), tree(n=("paddle.nn.BatchNorm", (3,)))
    found = pair(left, right)
    assert found.weights == {"bn": "n"} and found.modules == {"": ""}


def test_layers_of_one_name_are_paired_whatever_they_are():
    found = pair(tree(act=("torch.nn.GELU", ())), tree(act=("paddle.nn.ReLU", ())))
    assert found.modules == {"": "", "act": "act"}


def test_what_holds_all_paired_layers_of_a_module_answers_to_it():
    one, other = ("torch.nn.Linear", (2, 2)), ("torch.nn.LayerNorm", (2,))
    left = tree(a=("Block", ()), a_q=one, a_k=one, a_n=other)
    right = tree(b=("Layer", ()), b_x=("paddle.nn.Linear", (2, 2)), b_n=("paddle.nn.LayerNorm", (2,)))
    found = pair(left, right)
    assert found.modules == {"": "", "a": "b", "a.n": "b.n"}
    assert found.reference == ("a.q", "a.k") and found.candidate == ("b.x",)


def test_of_more_shells_the_innermost_answers():
    left = tree(a=("Attention", ()), a_q=("torch.nn.Linear", (2, 3)))
    right = tree(b=("Residual", ()), b_fn=("Attention", ()), b_fn_w=("paddle.nn.Linear", (3, 2)))
    assert pair(left, right).modules == {"": "", "a": "b.fn", "a.q": "b.fn.w"}


def test_values_tell_which_layer_it_is_before_order_does():
    left = tree(q=("torch.nn.Linear", (2, 2)), k=("torch.nn.Linear", (2, 2)))
    right = tree(one=("paddle.nn.Linear", (2, 2)), two=("paddle.nn.Linear", (2, 2)))
    assert pair(left, right).modules == {"": "", "q": "one", "k": "two"}
    assert pair(left, right, known={"q": "two", "k": "one"}).modules == {"": "", "q": "two", "k": "one"}


def test_the_only_layer_of_its_class_is_paired_below_paired_modules_and_nowhere_else():
    drop, norm = ("torch.nn.Dropout", ()), ("torch.nn.LayerNorm", (2,))
    left = tree(a=("Block", ()), a_n=norm, a_drop=drop, other=drop)
    drop, norm = ("paddle.nn.Dropout", ()), ("paddle.nn.LayerNorm", (2,))
    right = tree(a=("Block", ()), a_n=norm, a_d=drop, other=drop)
    assert pair(left, right).modules == {"": "", "a": "a", "a.n": "a.n", "a.drop": "a.d", "other": "other"}
    right["a.e"] = Module("a.e", "paddle.nn.Dropout", (), (), {})
    assert "a.drop" not in pair(left, right).modules
