"""Our own sentences in Chinese: findings say them in English, for the report; a terminal may want them otherwise.

Each phrase is replaced wherever it stands, so that a sentence made of several is translated piece by piece. What a
framework says, names and numbers stay as they are.
"""

from __future__ import annotations

import re

_PHRASES = (
    # settings
    (r"(\S+) is (.+?) on the reference and (.+?) on the port", r"\1 在参考模型中为 \2, 在移植模型中为 \3"),
    (r"only the reference's layer has a (\S+)", r"只有参考模型的层含有 \1"),
    (r"only the port's layer has a (\S+)", r"只有移植模型的层含有 \1"),
    (r"the reference's layer is a (\S+), the port's a (\S+)", r"参考模型的层为 \1, 移植模型的层为 \2"),
    (r"with padding_idx=(\d+) Paddle's layer returns zeros for \1, whatever the row of the table holds",
     r"当 padding_idx=\1 时, Paddle 的层对 \1 返回零, 与权重中该行的值无关"),
    # what is wrong, and where
    (r"its own code returns a wrong (result(?: [\d.]+)?|\S+) \((.*?)\)", r"其自身代码返回错误的 \1 (\2)"),
    (r"\bthe result(?=[\[: ])", "结果"), (r"\bresult (?=\d)", "结果 "),
    (r"its own code gives (.+?) a wrong (\S+) at (.+?):(\d+(?:-\d+)?)", r"其自身代码向 \1 传入错误的 \2, 位于 \3:\4"),
    (r"the port returns no tensor (\S+)", r"移植模型没有返回张量 \1"),
    (r"the port takes no (\S+)", r"移植模型不接收 \1"),
    (r"the port overwrites (\S+), which the reference leaves as it is", r"移植模型改写了 \1, 参考模型则保持不变"),
    (r"shape of (.+?): (.+?) on the reference, (.+?) on the (?:port|candidate)",
     r"\1 的形状: 参考模型为 \2, 移植模型为 \3"),
    (r"dtype of (.+?): (.+?) on the reference, (.+?) on the (?:port|candidate)",
     r"\1 的数据类型: 参考模型为 \2, 移植模型为 \3"),
    (r"(\S+) against (\S+) in float64 on both sides: another formula, not rounding",
     r"双方在 float64 下分别为 \1 与 \2: 公式不同, 并非舍入误差"),
    (r"(\S+) on the reference, (\S+) on the (?:port|candidate) after one step on the same gradients",
     r"相同梯度更新一步后, 参考模型为 \1, 移植模型为 \2"),
    (r"([^\s:]+|\[.*?\]) on the reference, (.+?) on the (?:port|candidate)", r"参考模型为 \1, 移植模型为 \2"),
    (r"float64 says (\S+)", r"float64 结果为 \1"),
    (r"the gradient of (\S+) alone diverges, without the port", r"\1 单独的梯度即有差异, 与移植模型无关"),
    (r"gradient of (\S+):", r"\1 的梯度:"),
    (r"its backward, alone: the port's process", "单独执行其反向时, 移植模型进程"),
    (r"(\S+) alone diverges, without the port", r"\1 单独执行即有差异, 与移植模型无关"),
    (r"(\d+) steps of the reference agree on the candidate, so it is told something else",
     r"参考模型的 \1 个步骤在目标框架上均一致, 因此是传入的内容不同"),
    (r"the framework alone could not be asked: ", "无法单独询问框架: "),
    (r"it passes on the precision of what it calls", "沿用其所调用模块的精度"),
    (r"ill-conditioned: an element moves by (\S+) times a relative change of its inputs",
     r"病态: 输入的相对变化会在某一元素上放大 \1 倍"),
    (r"ill-conditioned: ", "病态: "),
    (r"compare rows by their relative error, the mean says nothing", "请按行比较相对误差, 均值没有意义"),
    (r"row (\d+)(.*?) is (\S+), owns (\S+) of the sum and moves by (\S+) times a relative change of its inputs",
     r"第 \1 行\2 为 \3, 占总和的 \4, 会把输入的相对变化放大 \5 倍"),
    (r"both sides are equally far from float64 \(ratio (\S+)\)", r"双方与 float64 的距离相同 (误差比 \1)"),
    (r"ratio (\S+), between the bound (\S+) and (\S+) times it", r"误差比 \1, 介于界限 \2 与其 \3 倍之间"),
    (r"(.+?) is judged by its size alone, without a float64 run", r"\1 没有 float64 结果, 只按大小判断"),
    (r"another interface: ", "接口不同: "),
    (r"what the port makes of it agrees", "移植模型据此得到的结果一致"),
    (r"whether that is right \(at (.+?)\) cannot be told while something else is wrong",
     r"在其他错误修正之前无法判断其是否正确 (位于 \1)"),
    (r"unless the converter puts parts of weights in a wrong order: ", "除非转换函数把权重的各部分排错了次序: "),
    (r"or what it is told is wrong, at (.+?): ", r"或者传入的内容有误, 位于 \1: "),
    (r"told in another way: ", "传入方式不同: "),
    (r"it returns something else, from which the port does not come to the right value: ",
     "返回值不同, 移植模型之后也没有得到正确的值: "),
    # draws and precision
    (r"the port draws (.+?) of shape (.+?) at (\S+) by itself", r"移植模型在 \3 自行抽取 \1, 形状 \2"),
    (r"the port draws (.+?) at (\S+) where the reference draws nothing",
     r"移植模型在 \2 抽取 \1, 参考模型则没有抽取"),
    (r"the reference draws (.+?) of shape (.+?) at (\S+), the port never does",
     r"参考模型在 \3 抽取 \1, 形状 \2, 移植模型从未抽取"),
    (r"the reference draws (.+?) at (\S+), the port (.+?) at (\S+)", r"参考模型在 \2 抽取 \1, 移植模型在 \4 抽取 \3"),
    (r"the port draws inside a kernel of (.+?), the reference draws nothing",
     r"移植模型在 \1 的算子内部抽取, 参考模型没有抽取"),
    (r"both sides draw inside a kernel of (.+?), where no value can be taken or given",
     r"双方都在 \1 的算子内部抽取, 无法读取或替换其值"),
    (r"the reference draws inside a kernel of (.+?), where no value can be taken or given",
     r"参考模型在 \1 的算子内部抽取, 无法读取或替换其值"),
    (r"only the (reference|candidate) runs in an autocast context \((.+?)\), opened at (\S+);",
     r"只有 \1 处于 autocast 环境 (\2), 开启位置 \3;"),
    (r"compare with --precision float32", "请使用 --precision float32 比较"),
    (r"the reference computes in (\S+), the port in (\S+)", r"参考模型以 \1 计算, 移植模型以 \2 计算"),
    # weights
    (r"the converter gives no (\S+), which keeps its initial value", r"转换函数没有给出 \1, 该权重保持初始值"),
    (r"nothing of the reference answers to (\S+), which keeps its initial value",
     r"参考模型中没有与 \1 对应的权重, 该权重保持初始值"),
    (r"nothing of the port answers to (\S+)", r"移植模型中没有与 \1 对应的权重"),
    (r"the converter gives (\S+), which the port does not have", r"转换函数给出了移植模型没有的 \1"),
    (r"the converter gives (\S+) (.+?) compared to (\S+?)(?=[:\s]|$)", r"转换函数给出的 \1 与 \3 相比: \2"),
    (r"it is the reference's (\S+)", r"它是参考模型的 \1"),
    (r"the converter gives (\S+)", r"转换函数给出 \1"),
    (r"the port's (\S+) has no (\S+), the reference's has one", r"移植模型的 \1 没有 \2, 参考模型则有"),
    (r"the port's (\S+) has a (\S+), the reference's has none", r"移植模型的 \1 含有 \2, 参考模型则没有"),
    (r"the port computes its buffer (\S+) otherwise: ", r"移植模型以不同方式计算缓冲区 \1: "),
    (r"right values in, memory-order values stored", "传入的值正确, 存储时按内存顺序错位"),
    (r"right values in, transposed values stored", "传入的值正确, 存储时被转置"),
    (r"right values in, other values stored", "传入的值正确, 存储为其他值"),
    (r"with what it gives (\S+) in its place", r"以给予 \1 的值代替后"),
    (r"(\S+) holds modules in a plain container, which keep their initial values; register them \(LayerList, ModuleList\)",
     r"\1 以普通容器保存子模块, 它们保持初始值; 请用 LayerList 或 ModuleList 注册"),
    # ends
    (r"died \((.+?)\)", r"已终止 (\1)"),
    (r"did not answer for (\d+) s", r"在 \1 秒内没有响应"),
    (r"in the port's own code: no call of (\w+) was running", r"位于移植模型自身代码: 当时没有执行 \1 的调用"),
    (r"in the port's own code: (\S+), which ran last, comes to an end when it is made alone",
     r"位于移植模型自身代码: 最后执行的 \1 单独调用时能够结束"),
    (r"in the framework's own (\S+)", r"位于框架自身的 \1"),
    (r"in (.+?); the call comes to an end when it is made alone", r"位于 \1; 该调用单独执行时能够结束"),
    (r"in (.+?); what something outside ended is not reduced", r"位于 \1; 由外部终止的调用不作归约"),
    (r"in (.+?), whose arguments cannot be written down", r"位于 \1, 其参数无法写出"),
    (r"it did not do so again", "重复执行时没有再次出现"),
    (r"it could not be traced: ", "无法跟踪: "),
    (r"it shows in a forked process only, which is how minrepro runs the port: nobody else has to see it",
     "只在 fork 出的进程中出现, minrepro 正是这样运行移植模型: 其他环境未必出现"),
    (r"a script cannot show that something outside of it ended it \((.+?)\)", r"脚本无法展示由外部造成的终止 (\1)"),
    (r"(\S+) refuses this call, too \((.*)\): it is right to raise, what made the arguments is wrong",
     r"\1 同样拒绝该调用 (\2): 抛出异常是正确的, 错误在于产生这些参数的代码"),
    (r"after the entry of (\S+)", r"在进入 \1 之后"), (r"after the exit of (\S+)", r"在离开 \1 之后"),
    (r"; transposed (\S+) agrees", r"; 转置后 \1 一致"),
    (r"in its place (.+?) agrees \(if that is meant, (.+?) uses one for the other\)",
     r"在此处则 \1 一致 (若确属有意, 则是 \2 用错了权重)"),
    (r"not compared beyond (.+?) at (.+?): the port runs by itself, but not on the reference's values, for which it has "
     r"another interface there", r"\1 (位于 \2) 之后未作比较: 移植模型可独立运行, 但不能使用参考模型的值, 因其此处接口不同"),
    (r"the outputs differ, and not all could be compared", "输出不同, 且有部分未能比较"),
    # notes
    (r"the whole returns the same: what differs inside is meant, or this input hides it",
     "整体输出一致: 内部差异是有意为之, 或被本次输入掩盖"),
    (r"(.+?): the port returns (\d+) more tensor\(s\) than the reference; they are not compared",
     r"\1: 移植模型比参考模型多返回 \2 个张量, 未作比较"),
    (r"called by the port only: ", "只有移植模型调用: "),
    (r"no float64 run of the (port|reference), so that what it would judge is judged by size, to half of the digits: ",
     r"\1 无法以 float64 运行, 相应部分只按大小判断, 精确到一半有效位: "),
    (r"no float64 run of the port: its process dies in it", "移植模型无法以 float64 运行: 其进程会终止"),
    (r"no gradient of (.+?) on (\S+): ", r"\2 的 \1 没有梯度: "),
    (r"not compared: the gradients of (\d+) parameter\(s\) of the (port|reference), which answer to none of the other side: "
     r"(.*); give --map", r"未作比较: \2 的 \1 个参数的梯度, 另一侧没有对应项: \3; 请使用 --map"),
    (r"no whole backward pass and no training step: the port's process would not survive it",
     "未执行整体反向与训练: 移植模型进程会终止"),
    (r"no whole backward pass and no training step: the draws inside (.+?) cannot be pinned",
     r"未执行整体反向与训练: \1 内部的随机数无法固定"),
    (r"the port's forward runs, its backward pass raises\.", "移植模型的前向正常, 反向抛出异常."),
    (r"Some layers have a backward in training mode only: if yours runs in evaluation, add --train\.",
     "有些层只在训练模式下支持反向: 若模型处于评估模式, 请加 --train."),
    (r"the (reference|port)'s code replaces (\S+) at (\S+)", r"\1 的代码在 \3 替换了 \2"),
    (r"(\S+) of the (reference|candidate) cannot be watched: ", r"无法监视 \2 的 \1: "),
    (r"The inputs' first axes differ: (.*)\. If these are batches, give the same number of rows for each\.",
     r"各输入的第一维不同: \1. 若为批次维, 请给出相同的行数."),
    (r"argument (\d+) has", r"参数 \1 为"),
    (r"(\S+) has (.+), the reference \((.+?)\) has ", r"\1 为 \2, 参考模型 (\3) 为 "),
    # whose fault
    (r"\bthe output\b",
     "输出"), (r"^converter: ", "转换函数: "), (r"^framework: ", "框架: "), (r"^port: ", "移植模型: "),
    (r"^pairing: ", "配对: "), (r"^model: ", "参考模型: "),
)
PHRASES = {"zh": [(re.compile(pattern), text) for pattern, text in _PHRASES]}
"""Language -> (phrase, what it is there), in the order in which they are looked for."""
SIDES = {"zh": {"reference": "参考模型", "port": "移植模型", "candidate": "移植模型"}}
"""Language -> side that a phrase may name -> what it is there."""


def translated(text: str, language: str) -> str:
    """A sentence of ours in another language, as far as it is known there."""
    sides = SIDES.get(language, {})
    for pattern, there in PHRASES.get(language, ()):
        text = pattern.sub(
            lambda found, there=there: re.sub(r"\\(\d)", lambda n: sides.get(found[int(n[1])], found[int(n[1])]), there), text)
    return text
