"""The words of the table, and of the lines around it, in two languages."""

from __future__ import annotations

from typing import Any

from minrepro.align.phrases import translated

_ENGLISH = {
    "title": "Alignment", "module": "module", "types": "types", "shape": "shape", "dtype": "dtype", "made": "made here",
    "seen": "seen here", "ulp": "ULP", "ratio": "ratio", "verdict": "verdict", "gradient": "gradients", "root": "(root)",
    "notes": "Notes",
    "reference": "reference", "candidate": "candidate", "state": "Weights", "standard": "standard",
    "standard_text": "each element of each module, given right inputs, against float64 runs of both sides; a ratio of 1 is "
                     "ordinary rounding",
    "unpaired_reference": "without a partner in the port", "unpaired_candidate": "without a partner in the reference",
    "verdict.same": "same", "verdict.arithmetic": "arithmetic", "verdict.port": "port mistake",
    "verdict.weights": "weights differ", "verdict.draw": "random draw not pinned", "verdict.policy": "precision policy",
    "verdict.framework": "framework bug", "verdict.raises": "raises", "verdict.idle": "not called",
    "verdict.dies": "process dies", "verdict.hangs": "never returns", "verdict.unexplained": "unexplained",
    "verdict.setting": "setting differs", "verdict.interface": "another interface",
    "outcome.clean": "clean: both sides agree", "outcome.arithmetic": "arithmetic: the difference is rounding",
    "outcome.port": "port mistake", "outcome.converter": "converter mistake", "outcome.framework": "framework bug",
    "outcome.policy": "precision policy", "outcome.draw": "random draw not pinned", "outcome.exception": "the port raises",
    "outcome.crash": "the port's process dies", "outcome.hang": "the port never returns",
    "outcome.unexplained": "unexplained divergence",
    "outcome.unpaired": "weights without a partner: give --map or --convert",
    "against": "{model}: {reference} against {candidate}", "starting": "starting both frameworks",
    "against_port": "{model}: {reference} against its port {port} on {candidate}", "call": "call", "script": "script",
    "folder": "folder", "more": "(and {count} more)",
    "more_entries": "... {count} of {total} entries; all of them are in align.md",
    "raises": "the port raises {error} in {module} at {where}: {message}",
    "ends": "the port's process {error} in {module} at {where}: {message}", "in_framework": "the framework",
    "before": "wrong before that: {units}", "reduced": "{call}  (was {original}; {queries} queries)",
    "lines": "({count} lines)", "show_it": "{reproduced} of {runs} fresh processes show it", "none": "none: {why}",
    "alike": "the same kind of call: {call}", "reduce": "reduce it with: {command}",
    "step": "step {step} {what}: {state}; {key}: {detail}", "step.gradient": "gradient",
    "step.update": "{name} update", "differ": "{wrong} of {count} differ", "agree": "{count} agree",
    "worst": "worst {size}", "blame.converter": "converter", "blame.framework": "framework", "blame.model": "model",
    "blame.port": "port", "blame.pairing": "pairing",
}
_CHINESE = {
    "title": "对齐结果", "module": "模块", "types": "类型", "shape": "形状", "dtype": "数据类型", "made": "本模块引入误差",
    "seen": "累计误差", "ulp": "ULP", "ratio": "误差比", "verdict": "结论", "gradient": "梯度误差", "root": "(根模块)",
    "notes": "说明",
    "reference": "参考模型", "candidate": "移植模型", "state": "权重", "standard": "对齐标准",
    "standard_text": "逐模块给定相同输入, 逐元素与双方 float64 结果比较; 误差比为 1 即正常舍入误差",
    "unpaired_reference": "移植模型中没有对应模块", "unpaired_candidate": "参考模型中没有对应模块",
    "verdict.same": "一致", "verdict.arithmetic": "舍入误差", "verdict.port": "移植错误", "verdict.weights": "权重不一致",
    "verdict.draw": "随机数未固定", "verdict.policy": "精度策略不同", "verdict.framework": "框架缺陷",
    "verdict.dies": "进程崩溃", "verdict.hangs": "无响应", "verdict.raises": "抛出异常",
    "verdict.idle": "未被调用", "verdict.unexplained": "原因不明", "verdict.setting": "配置不同",
    "verdict.interface": "接口不同",
    "outcome.clean": "双方一致", "outcome.arithmetic": "差异为舍入误差", "outcome.port": "移植错误",
    "outcome.converter": "权重转换错误", "outcome.framework": "框架缺陷", "outcome.policy": "精度策略不同",
    "outcome.unpaired": "部分权重没有对应项, 请使用 --map 或 --convert",
    "outcome.draw": "随机数未固定", "outcome.exception": "移植模型抛出异常",
    "outcome.crash": "移植模型进程崩溃", "outcome.hang": "移植模型无响应", "outcome.unexplained": "原因不明的差异",
    "against": "{model}: {reference} 对比 {candidate}", "starting": "正在启动两个框架",
    "against_port": "{model}: {reference} 对比 {candidate} 上的移植模型 {port}", "call": "调用", "script": "脚本",
    "folder": "目录", "more": "(另有 {count} 个)",
    "more_entries": "... 共 {total} 项中的 {count} 项, 全部列于 align.md",
    "raises": "移植模型抛出 {error}, 模块 {module}, 位置 {where}: {message}",
    "ends": "移植模型进程{error}, 模块 {module}, 位置 {where}: {message}", "in_framework": "框架内部",
    "before": "在此之前已有错误: {units}", "reduced": "{call}  (原为 {original}; 查询 {queries} 次)",
    "lines": "({count} 行)", "show_it": "{runs} 个新进程中有 {reproduced} 个复现", "none": "无: {why}",
    "alike": "同类调用: {call}", "reduce": "归约命令: {command}",
    "step": "第 {step} 步{what}: {state}; {key}: {detail}", "step.gradient": "梯度", "step.update": " {name} 更新",
    "differ": "{count} 项中有 {wrong} 项不同", "agree": "{count} 项一致", "worst": "最大误差 {size}",
    "blame.converter": "转换函数", "blame.framework": "框架", "blame.model": "参考模型", "blame.port": "移植模型",
    "blame.pairing": "配对",
}
LANGUAGES = {"en": _ENGLISH, "zh": _CHINESE}


class Words:
    """Looks words up.

    Args:
        language: ``en`` or ``zh``.
    """

    def __init__(self, language: str):
        self.language, self.table = language, LANGUAGES[language]

    def __call__(self, name: str, /, **parts: Any) -> str:
        return self.table[name].format(**parts) if parts else self.table[name]

    def said(self, text: str) -> str:
        """A sentence that the findings say in English."""
        return translated(text, self.language)

    def verdict(self, name: str) -> str:
        """The verdict on a row."""
        return self.table[f"verdict.{name}"]

    def outcome(self, name: str) -> str:
        """The verdict on the whole."""
        return self.table[f"outcome.{name}"]
