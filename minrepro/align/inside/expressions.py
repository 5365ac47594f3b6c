"""Expressions of a user's function, evaluated one by one as Python does, each noted with the text that made it."""

import ast
import builtins
import operator

from . import running
from .recorder import HOLE, Box, Unfollowed, imported

BINARY = {
    "Add": ("+", operator.add), "Sub": ("-", operator.sub), "Mult": ("*", operator.mul), "Div": ("/", operator.truediv),
    "FloorDiv": ("//", operator.floordiv), "Mod": ("%", operator.mod), "Pow": ("**", operator.pow),
    "MatMult": ("@", operator.matmul), "BitAnd": ("&", operator.and_), "BitOr": ("|", operator.or_),
    "BitXor": ("^", operator.xor), "LShift": ("<<", operator.lshift), "RShift": (">>", operator.rshift),
}
INPLACE = {
    "Add": operator.iadd, "Sub": operator.isub, "Mult": operator.imul, "Div": operator.itruediv, "MatMult": operator.imatmul,
    "FloorDiv": operator.ifloordiv, "Mod": operator.imod, "Pow": operator.ipow, "BitAnd": operator.iand,
    "BitOr": operator.ior, "BitXor": operator.ixor,
}
UNARY = {
    "USub": ("-", operator.neg), "UAdd": ("+", operator.pos), "Invert": ("~", operator.invert),
    "Not": ("not ", operator.not_),
}
COMPARE = {
    "Eq": ("==", operator.eq), "NotEq": ("!=", operator.ne), "Lt": ("<", operator.lt), "LtE": ("<=", operator.le),
    "Gt": (">", operator.gt), "GtE": (">=", operator.ge), "Is": ("is", operator.is_), "IsNot": ("is not", operator.is_not),
    "In": ("in", lambda a, b: a in b), "NotIn": ("not in", lambda a, b: a not in b),
}


class Local:
    """A lambda or nested function of the code that is stepped through."""

    def __init__(self, stepper, node, frame, defaults):
        self.stepper, self.node, self.frame, self.defaults = stepper, node, frame, defaults

    def __call__(self, *args, **kwargs):
        of = self.stepper.recorder.of
        return self.run([of(a) for a in args], {k: of(v) for k, v in kwargs.items()}).value

    def run(self, args, kwargs):
        """Step through it."""
        frame = self.frame.inner()
        frame.names.update(self.stepper.arguments(self.node.args, args, kwargs, self.defaults))
        if isinstance(self.node, ast.Lambda):
            return self.stepper.evaluate(self.node.body, frame)
        return self.stepper.body(self.node.body, frame)


class Expressions:
    """The half of `stepping.Stepper` that evaluates expressions; `_Name` evaluates an `ast.Name`, and so on."""

    def evaluate(self, node, frame):
        """The box of an expression."""
        handler = getattr(self, "_" + type(node).__name__, None)
        if handler is None:
            raise Unfollowed("%s at line %d" % (type(node).__name__, getattr(node, "lineno", 0)))
        self.recorder.line = self.recorder.offset + getattr(node, "lineno", 0)
        return handler(node, frame)

    def _Constant(self, node, frame):
        return self.recorder.add("plain", node.value, literal=True) if node.value is not Ellipsis else self.recorder.add(
            "const", node.value, "...")

    def _Name(self, node, frame):
        name = node.id
        if name in frame.names:
            box = frame.names[name]
            return self.recorder.of(box.value) if self.native.is_tensor(box.value) else box
        if name in frame.cells:
            return self.recorder.of(frame.cells[name].cell_contents, name)
        if name in frame.globals:
            value = frame.globals[name]
            line = imported(name, value)
            if line is None or self.recorder.plain(value) or self.native.is_tensor(value):
                return self.recorder.of(value, name)
            return self.recorder.add("global", value, name, (), {name: line})
        if hasattr(builtins, name):
            return self.recorder.add("global", getattr(builtins, name), name)
        raise NameError("name %r is not defined" % name)

    def _Attribute(self, node, frame):
        return self.attribute(self.evaluate(node.value, frame), node.attr)

    def attribute(self, base, name):
        """An attribute of a box."""
        held = self.recorder.nodes[base.node] if base.node is not None else {}
        if self.native.is_tensor(base.value):
            operands = [self.recorder.index(base)]
            value = self.attempt(lambda: getattr(base.value, name), "%s.%s" % (HOLE % 0, name), operands, None)
            if callable(value) or self.recorder.is_dtype(value):
                return self.recorder.of(value)
            return self.recorder.done(value, "%s.%s" % (HOLE % 0, name), operands)
        value = getattr(base.value, name)
        if held.get("kind") == "global" and not self.recorder.plain(value) and not self.native.is_tensor(value):
            return self.recorder.add("global", value, "%s.%s" % (held["text"], name), (), held["uses"])
        return self.recorder.of(value, name)

    def _Call(self, node, frame):
        text, operands, uses, base = "", [], None, None
        if isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args:
            owner = frame.cells["__class__"].cell_contents
            first = next(iter(frame.names.values())).value
            return self.recorder.of(super(owner, first))
        if isinstance(node.func, ast.Attribute):
            base = self.evaluate(node.func.value, frame)
        args, kwargs = self.passed(node, frame)
        if base is None:
            called = self.evaluate(node.func, frame)
        else:
            if isinstance(base.value, self.native.Module) and node.func.attr in base.value.__dict__.get(running.MARK, ()):
                return self.part(base.value, node.func.attr, getattr(base.value, node.func.attr), args, kwargs)
            called = self.attribute(base, node.func.attr)
        if base is not None and self.native.is_tensor(base.value):
            text, operands = "%s.%s" % (HOLE % 0, node.func.attr), [self.recorder.index(base)]
        elif self.recorder.nodes[called.node]["kind"] == "global":
            text, uses = self.recorder.nodes[called.node]["text"], self.recorder.nodes[called.node]["uses"]
        return self.call(called.value, args, kwargs, text, operands, uses)

    def passed(self, node, frame):
        """Boxes of the arguments of a call, starred ones spread out."""
        args, kwargs = [], {}
        for arg in node.args:
            if isinstance(arg, ast.Starred):
                args += self.spread(self.evaluate(arg.value, frame))
            else:
                args.append(self.evaluate(arg, frame))
        for keyword in node.keywords:
            box = self.evaluate(keyword.value, frame)
            if keyword.arg is None:
                kwargs.update({key: self.recorder.of(value) for key, value in box.value.items()})
            else:
                kwargs[keyword.arg] = box
        return args, kwargs

    def spread(self, box):
        """Boxes of the items of a box."""
        if self.native.is_tensor(box.value):
            count = len(box.value)
            return [self.item(box, i) for i in range(count)]
        held = self.recorder.nodes[box.node]
        items = list(box.value)
        if held["kind"] == "display" and len(held["operands"]) == len(items):
            return [Box(value, number) for value, number in zip(items, held["operands"])]
        return [self.recorder.of(value) for value in items]

    def item(self, box, number):
        """One row of a tensor."""
        return self.recorder.done(box.value[number], "%s[%d]" % (HOLE % 0, number), [self.recorder.index(box)])

    def _BinOp(self, node, frame):
        sign, action = BINARY[type(node.op).__name__]
        text = HOLE % 0 + " " + sign + " " + HOLE % 1
        return self.operation(action, text, [self.evaluate(node.left, frame), self.evaluate(node.right, frame)])

    def operation(self, action, text, boxes):
        """A step of Python's own operators."""
        numbers = [self.recorder.index(box) for box in boxes]
        value = self.attempt(lambda: action(*[box.value for box in boxes]), text, numbers, None)
        return self.recorder.done(value, text, numbers)

    def _UnaryOp(self, node, frame):
        sign, action = UNARY[type(node.op).__name__]
        return self.operation(action, sign + HOLE % 0, [self.evaluate(node.operand, frame)])

    def _Compare(self, node, frame):
        if len(node.ops) > 1:
            left, result = self.evaluate(node.left, frame), None
            for op, right in zip(node.ops, node.comparators):
                right = self.evaluate(right, frame)
                result = COMPARE[type(op).__name__][1](left.value, right.value)
                if self.native.is_tensor(result):
                    raise Unfollowed("a chain of comparisons of tensors")
                if not result:
                    break
                left = right
            return self.recorder.of(result)
        sign, action = COMPARE[type(node.ops[0]).__name__]
        boxes = [self.evaluate(node.left, frame), self.evaluate(node.comparators[0], frame)]
        return self.operation(action, "%s %s %s" % (HOLE % 0, sign, HOLE % 1), boxes)

    def _BoolOp(self, node, frame):
        stop_at = isinstance(node.op, ast.Or)
        for value in node.values:
            box = self.evaluate(value, frame)
            if bool(box.value) == stop_at:
                break
        return box

    def _IfExp(self, node, frame):
        return self.evaluate(node.body if self.evaluate(node.test, frame).value else node.orelse, frame)

    def _NamedExpr(self, node, frame):
        box = self.evaluate(node.value, frame)
        self.assign(node.target, box, frame)
        return box

    def _Tuple(self, node, frame):
        boxes = self.several(node.elts, frame)
        return self.recorder.display(tuple(box.value for box in boxes), boxes)

    def _List(self, node, frame):
        boxes = self.several(node.elts, frame)
        return self.recorder.display([box.value for box in boxes], boxes)

    def several(self, nodes, frame):
        """Boxes of expressions, starred ones spread out."""
        boxes = []
        for node in nodes:
            starred = isinstance(node, ast.Starred)
            boxes += self.spread(self.evaluate(node.value, frame)) if starred else [self.evaluate(node, frame)]
        return boxes

    def _Dict(self, node, frame):
        made = {}
        for key, value in zip(node.keys, node.values):
            box = self.evaluate(value, frame)
            made.update(box.value) if key is None else made.__setitem__(self.evaluate(key, frame).value, box.value)
        return self.recorder.of(made)

    def _Set(self, node, frame):
        return self.recorder.of({self.evaluate(item, frame).value for item in node.elts})

    def _JoinedStr(self, node, frame):
        return self.recorder.add("plain", "".join(
            str(self.evaluate(v.value if isinstance(v, ast.FormattedValue) else v, frame).value) for v in node.values))

    def _Lambda(self, node, frame):
        defaults = zip([a.arg for a in node.args.args][::-1], [self.evaluate(d, frame) for d in node.args.defaults][::-1])
        return self.recorder.add("opaque", Local(self, node, frame, dict(defaults)))

    def _ListComp(self, node, frame):
        boxes = []
        self.comprehend(node.generators, frame.inner(), lambda inner: boxes.append(self.evaluate(node.elt, inner)))
        return self.recorder.display([box.value for box in boxes], boxes)

    _GeneratorExp = _ListComp

    def _DictComp(self, node, frame):
        made = {}
        self.comprehend(node.generators, frame.inner(), lambda inner: made.__setitem__(
            self.evaluate(node.key, inner).value, self.evaluate(node.value, inner).value))
        return self.recorder.of(made)

    def comprehend(self, generators, frame, action):
        """Run the loops of a comprehension."""
        if not generators:
            action(frame)
            return
        for box in self.iterated(self.evaluate(generators[0].iter, frame)):
            self.assign(generators[0].target, box, frame)
            if all(self.evaluate(test, frame).value for test in generators[0].ifs):
                self.comprehend(generators[1:], frame, action)

    def iterated(self, box):
        """Boxes of what a loop runs over, one at a time."""
        if self.native.is_tensor(box.value) or isinstance(box.value, (list, tuple)):
            yield from self.spread(box)
            return
        for value in box.value:
            yield self.recorder.of(value)

    def _Subscript(self, node, frame):
        base, boxes = self.evaluate(node.value, frame), []
        key, text = self.key(node.slice, frame, boxes)
        if not self.native.is_tensor(base.value):
            value = base.value[key]
            held = self.recorder.nodes[base.node]
            if held["kind"] == "display" and isinstance(key, int) and not self.native.is_tensor(value):
                return Box(value, held["operands"][key])
            return self.recorder.of(value)
        numbers = [self.recorder.index(b) for b in [base, *boxes]]
        whole = "%s[%s]" % (HOLE % 0, text)
        value = self.attempt(lambda: base.value[key], whole, numbers, None)
        return self.recorder.done(value, whole, numbers)

    def key(self, node, frame, boxes):
        """(index, its text); the boxes in it are appended."""
        if isinstance(node, ast.Slice):
            ends = [None if part is None else self.evaluate(part, frame) for part in (node.lower, node.upper, node.step)]
            holes = ["" if box is None else self.hole(box, boxes) for box in ends]
            text = "%s:%s" % tuple(holes[:2]) + (":" + holes[2] if holes[2] else "")
            return slice(*[None if box is None else box.value for box in ends]), text
        if type(node).__name__ == "Index":  # up to Python 3.8
            return self.key(node.value, frame, boxes)
        inner = getattr(node, "elts", None) if isinstance(node, ast.Tuple) else getattr(node, "dims", None)
        if inner is not None:
            pairs = [self.key(part, frame, boxes) for part in inner]
            return tuple(pair[0] for pair in pairs), ", ".join(pair[1] for pair in pairs) + ("," if len(pairs) == 1 else "")
        box = self.evaluate(node, frame)
        return box.value, self.hole(box, boxes)

    def hole(self, box, boxes):
        """A hole for one more operand of an index."""
        boxes.append(box)
        return HOLE % len(boxes)  # operand 0 is what is indexed
