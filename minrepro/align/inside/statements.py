"""Statements of a user's function, carried out one by one as Python does."""

import ast
import operator

from .expressions import BINARY, INPLACE, Local
from .recorder import HOLE, Box, Unfollowed, imported


class Statements:
    """The half of `stepping.Stepper` that runs statements; `_do_If` runs an `ast.If`, and so on.

    A block answers with the box that was returned, "break", "continue", or None if it ran to its end.
    """

    def body(self, statements, frame):
        """Run a function's statements; returns the box of its result."""
        signal = self.block(statements, frame)
        return signal if isinstance(signal, Box) else self.recorder.of(None)

    def block(self, statements, frame):
        """Run statements; returns the box that was returned, "break", "continue", or None."""
        for statement in statements:
            handler = getattr(self, "_do_" + type(statement).__name__, None)
            if handler is None:
                raise Unfollowed("%s at line %d" % (type(statement).__name__, statement.lineno))
            signal = handler(statement, frame)
            if signal is not None:
                return signal
        return None

    def _do_Expr(self, node, frame):
        self.evaluate(node.value, frame)

    def _do_Return(self, node, frame):
        return self.recorder.of(None) if node.value is None else self.evaluate(node.value, frame)

    def _do_Assign(self, node, frame):
        box = self.evaluate(node.value, frame)
        for target in node.targets:
            self.assign(target, box, frame)

    def _do_AnnAssign(self, node, frame):
        if node.value is not None:
            self.assign(node.target, self.evaluate(node.value, frame), frame)

    def _do_AugAssign(self, node, frame):
        kind = type(node.op).__name__
        sign = BINARY[kind][0]
        left, right = self.evaluate(node.target, frame), self.evaluate(node.value, frame)
        numbers = [self.recorder.index(left), self.recorder.index(right)]
        text = "%s %s %s" % (HOLE % 0, sign, HOLE % 1)
        action = INPLACE.get(kind, BINARY[kind][1])
        value = self.attempt(lambda: action(left.value, right.value), text, numbers, None)
        plain = self.recorder.plain(value)
        box = self.recorder.done(value, text, numbers) if plain else self.recorder.add("op", value, text, numbers)
        self.assign(node.target, box, frame)

    def assign(self, target, box, frame):
        """Bind a target to a box."""
        if isinstance(target, ast.Name):
            frame.names[target.id] = box
            self.recorder.label(box, target.id)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self.unpack(target.elts, box, frame)
        elif isinstance(target, ast.Attribute):
            setattr(self.evaluate(target.value, frame).value, target.attr, box.value)
        elif isinstance(target, ast.Subscript):
            self.write(target, box, frame)
        else:
            raise Unfollowed("an assignment to %s" % type(target).__name__)

    def unpack(self, targets, box, frame):
        """Bind several targets to the items of a box."""
        items = self.spread(box)
        star = next((i for i, t in enumerate(targets) if isinstance(t, ast.Starred)), None)
        if star is not None:
            end = len(items) - (len(targets) - star - 1)
            middle = items[star:end]
            items[star:end] = [self.recorder.display([b.value for b in middle], middle)]
            targets = [t.value if isinstance(t, ast.Starred) else t for t in targets]
        if len(items) != len(targets):
            raise ValueError("expected %d values to unpack, got %d" % (len(targets), len(items)))
        for target, item in zip(targets, items):
            self.assign(target, item, frame)

    def write(self, target, box, frame):
        """An item assignment; on a tensor a step of its own."""
        base, boxes = self.evaluate(target.value, frame), []
        key, text = self.key(target.slice, frame, boxes)
        if not self.native.is_tensor(base.value):
            base.value[key] = box.value
            return
        numbers = [self.recorder.index(b) for b in [base, *boxes, box]]
        whole = "[%s] = %s" % (text, HOLE % (len(numbers) - 1))
        self.attempt(lambda: operator.setitem(base.value, key, box.value), "", numbers, None)
        self.recorder.add("write", base.value, whole, numbers)

    def _do_If(self, node, frame):
        return self.block(node.body if self.evaluate(node.test, frame).value else node.orelse, frame)

    def _do_For(self, node, frame):
        for box in self.iterated(self.evaluate(node.iter, frame)):
            self.assign(node.target, box, frame)
            signal = self.block(node.body, frame)
            if signal == "break":
                return None
            if isinstance(signal, Box):
                return signal
        return self.block(node.orelse, frame)

    def _do_While(self, node, frame):
        while self.evaluate(node.test, frame).value:
            signal = self.block(node.body, frame)
            if signal == "break":
                return None
            if isinstance(signal, Box):
                return signal
        return self.block(node.orelse, frame)

    def _do_Break(self, node, frame):
        return "break"

    def _do_Continue(self, node, frame):
        return "continue"

    def _do_Pass(self, node, frame):
        return None

    def _do_Assert(self, node, frame):
        assert self.evaluate(node.test, frame).value

    def _do_Raise(self, node, frame):
        raise self.evaluate(node.exc, frame).value

    def _do_With(self, node, frame):
        return self._entered(node.items, node, frame)

    def _entered(self, items, node, frame):
        if not items:
            return self.block(node.body, frame)
        with self.evaluate(items[0].context_expr, frame).value as value:
            if items[0].optional_vars is not None:
                self.assign(items[0].optional_vars, self.recorder.of(value), frame)
            return self._entered(items[1:], node, frame)

    def _do_FunctionDef(self, node, frame):
        defaults = zip([a.arg for a in node.args.args][::-1], [self.evaluate(d, frame) for d in node.args.defaults][::-1])
        frame.names[node.name] = self.recorder.add("opaque", Local(self, node, frame, dict(defaults)))

    def _do_Import(self, node, frame):
        held = {}
        exec(compile(ast.fix_missing_locations(ast.Module([node], [])), "<import>", "exec"), frame.globals, held)
        for name, value in held.items():
            frame.names[name] = self.recorder.add("global", value, name, (), {name: imported(name, value) or ""})

    _do_ImportFrom = _do_Import
