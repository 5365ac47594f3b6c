"""The words of the table in two languages."""

from __future__ import annotations

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
}
LANGUAGES = {"en": _ENGLISH, "zh": _CHINESE}


class Words:
    """Looks words up.

    Args:
        language: ``en`` or ``zh``.
    """

    def __init__(self, language: str):
        self.table = LANGUAGES[language]

    def __call__(self, name: str) -> str:
        return self.table[name]

    def verdict(self, name: str) -> str:
        """The verdict on a row."""
        return self.table[f"verdict.{name}"]

    def outcome(self, name: str) -> str:
        """The verdict on the whole."""
        return self.table[f"outcome.{name}"]
