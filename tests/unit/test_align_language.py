"""Both languages say the same things, and our own sentences are known in both."""

from __future__ import annotations

import re
import string

import pytest

from minrepro.align.language import LANGUAGES, Words
from minrepro.align.verdict import EXIT


def test_every_word_has_the_same_parts_in_every_language():
    def parts(text: str) -> set[str]:
        return {name for _, name, _, _ in string.Formatter().parse(text) if name}

    english = LANGUAGES["en"]
    for language, words in LANGUAGES.items():
        assert set(words) == set(english), language
        assert {name: parts(text) for name, text in words.items()} == {name: parts(text) for name, text in english.items()}
    assert all(f"outcome.{word}" in english for word in EXIT)


@pytest.mark.parametrize(("said", "due"), [
    ("stride is [2, 2] on the reference and [1, 1] on the port; only the port's layer has a bias",
     "stride 在参考模型中为 [2, 2], 在移植模型中为 [1, 1]; 只有移植模型的层含有 bias"),
    ("its own code returns a wrong result (port.py:48-49): [1, 9, 0]: 5.208177 on the reference, -0.528235 on the port",
     "其自身代码返回错误的 result (port.py:48-49): [1, 9, 0]: 参考模型为 5.208177, 移植模型为 -0.528235"),
    ("its own code gives fc a wrong x at port.py:7: shape of x: [2, 3] on the reference, [3, 2] on the port",
     "其自身代码向 fc 传入错误的 x, 位于 port.py:7: x 的形状: 参考模型为 [2, 3], 移植模型为 [3, 2]"),
    ("converter: the converter gives fc.weight transposed compared to head.weight",
     "转换函数: 转换函数给出的 fc.weight 与 head.weight 相比: transposed"),
    ("the converter gives no fc.bias, which keeps its initial value", "转换函数没有给出 fc.bias, 该权重保持初始值"),
    ("in the port's own code: no call of paddle was running", "位于移植模型自身代码: 当时没有执行 paddle 的调用"),
    ("did not answer for 10 s", "在 10 秒内没有响应"),
    ("not compared: the gradients of 2 parameter(s) of the port, which answer to none of the other side: a, b; give --map",
     "未作比较: 移植模型 的 2 个参数的梯度, 另一侧没有对应项: a, b; 请使用 --map"),
    ("(root): the port returns 1 more tensor(s) than the reference; they are not compared",
     "(root): 移植模型比参考模型多返回 1 个张量, 未作比较"),
    ("a message of a framework stays", "a message of a framework stays"),
])
def test_a_sentence_is_translated_piece_by_piece(said, due):
    assert Words("zh").said(said) == due
    assert Words("en").said(said) == said
    left = re.sub(r"[\w.]+\.py\S*|--\w+", "", Words("zh").said(said))
    assert said == due or not re.search(r"\b(the|port|reference|which|of)\b", left)
