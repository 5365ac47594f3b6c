"""Edits of a body's source: an expression replaced by one of its parts, an argument dropped, a variable put in its place.

An edit is a place and a choice, so that the same edit can be made in the same body at another size. Nothing here knows
whether an edit is legal: whoever makes it runs the result.
"""

from __future__ import annotations

from typing import Optional, Union

import libcst as cst
import msgspec

LONGEST = 100
"""Columns up to which a variable is put in its place."""


class Edit(msgspec.Struct, frozen=True):
    """One edit.

    Attributes:
        place: number of the expression, in the order of the text.
        kind: ``part`` puts one of its parts in its place, ``drop`` removes a keyword argument.
        choice: which part or argument.
    """

    place: int
    kind: str
    choice: int


def edits(source: str) -> list[Edit]:
    """Every edit of a body, outer expressions first."""
    finder = _Finder()
    cst.parse_module(source).visit(finder)
    return finder.found


def apply(source: str, edit: Edit) -> str | None:
    """The body with one edit made; None if there is no such place."""
    editor = _Editor(edit)
    made = cst.parse_module(source).visit(editor)
    return made.code if editor.done else None


def inline(source: str) -> str:
    """A body whose variables that are read once, in the statement after them, stand where they are read."""
    while True:
        module = cst.parse_module(source)
        for position, line in enumerate(module.body[:-1]):
            made = _inlined(module, position, line)
            if made is not None:
                source = made
                break
        else:
            return source


def _inlined(module: cst.Module, position: int, line) -> str | None:
    bound = _assigned(line)
    if bound is None:
        return None
    name, value = bound
    reads = [_count(statement, name) for statement in module.body]
    after = module.body[position + 1]
    if sum(reads) != 1 or reads[position + 1] != 1 or sum(_binds(s, name) for s in module.body) != 1:
        return None
    put = after.visit(_Put(name, value))
    if len(cst.Module([put]).code.rstrip()) > LONGEST:
        return None
    return module.with_changes(body=[*module.body[:position], put, *module.body[position + 2:]]).code


def _assigned(line) -> tuple[str, cst.BaseExpression] | None:
    """(name, value) of a statement ``name = value``."""
    if not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1 or not isinstance(line.body[0], cst.Assign):
        return None
    statement = line.body[0]
    if len(statement.targets) != 1 or not isinstance(statement.targets[0].target, cst.Name):
        return None
    return statement.targets[0].target.value, statement.value


def _binds(line, name: str) -> bool:
    """True if a statement assigns to a name or to an item of it."""
    if not isinstance(line, cst.SimpleStatementLine) or not isinstance(line.body[0], cst.Assign):
        return False
    target = line.body[0].targets[0].target
    while isinstance(target, (cst.Subscript, cst.Attribute)):
        target = target.value
    return isinstance(target, cst.Name) and target.value == name


class _Reads(cst.CSTVisitor):
    """Counts where a name is read; keyword names, attributes and assigned names are no reads."""

    def __init__(self, name: str):
        self.name, self.count = name, 0

    def visit_Name(self, node: cst.Name) -> None:
        self.count += node.value == self.name

    def visit_Attribute(self, node: cst.Attribute) -> bool:
        node.value.visit(self)
        return False

    def visit_Arg(self, node: cst.Arg) -> bool:
        node.value.visit(self)
        return False

    def visit_AssignTarget(self, node: cst.AssignTarget) -> bool:
        if not isinstance(node.target, cst.Name):
            node.target.visit(self)
        return False


def _count(statement, name: str) -> int:
    reads = _Reads(name)
    statement.visit(reads)
    return reads.count


class _Put(cst.CSTTransformer):
    """Puts an expression in the place of a name."""

    def __init__(self, name: str, value: cst.BaseExpression):
        self.name, self.value = name, value

    def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.BaseExpression:
        return updated_node.with_changes(attr=original_node.attr)

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:
        return updated_node.with_changes(keyword=original_node.keyword)

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        return bracketed(self.value) if original_node.value == self.name else updated_node


def bracketed(value: cst.BaseExpression) -> cst.BaseExpression:
    """An expression that can stand anywhere."""
    plain = (cst.Name, cst.Call, cst.Attribute, cst.Subscript, cst.List, cst.SimpleString)
    if isinstance(value, plain) or value.lpar:
        return value
    return value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


Whole = Union[cst.Call, cst.BinaryOperation, cst.UnaryOperation, cst.Subscript]
KINDS = (cst.Call, cst.BinaryOperation, cst.UnaryOperation, cst.Subscript)


def parts(node: Whole) -> list[cst.BaseExpression]:
    """The expressions that may stand for a whole: a receiver or argument, an operand, what is indexed."""
    if isinstance(node, cst.BinaryOperation):
        return [node.left, node.right]
    if isinstance(node, cst.UnaryOperation):
        return [] if isinstance(node.expression, (cst.Integer, cst.Float)) else [node.expression]
    if isinstance(node, cst.Subscript):
        return [node.value]
    receiver = [node.func.value] if isinstance(node.func, cst.Attribute) else []
    return receiver + [arg.value for arg in node.args if arg.keyword is None and not arg.star]


class _Finder(cst.CSTVisitor):
    """Lists the edits."""

    def __init__(self) -> None:
        self.found: list[Edit] = []
        self.place = -1

    def on_visit(self, node: cst.CSTNode) -> bool:
        if isinstance(node, KINDS):
            self.place += 1
            self.found += [Edit(self.place, "part", i) for i in range(len(parts(node)))]
            if isinstance(node, cst.Call):
                self.found += [Edit(self.place, "drop", i) for i, arg in enumerate(node.args) if arg.keyword is not None]
        return True


class _Editor(cst.CSTTransformer):
    """Makes one edit."""

    def __init__(self, edit: Edit):
        self.edit, self.place, self.done = edit, -1, False
        self.target: Optional[cst.CSTNode] = None

    def on_visit(self, node: cst.CSTNode) -> bool:
        if isinstance(node, KINDS):
            self.place += 1
            if self.place == self.edit.place:
                self.target = node
        return True

    def on_leave(self, original_node: cst.CSTNode, updated_node: cst.CSTNode) -> cst.CSTNode:
        if original_node is not self.target:
            return updated_node
        if self.edit.kind == "part":
            choices = parts(updated_node)  # type: ignore[arg-type]
            if self.edit.choice < len(choices):
                self.done = True
                return bracketed(choices[self.edit.choice])
        elif isinstance(updated_node, cst.Call) and self.edit.choice < len(updated_node.args):
            self.done = True
            left = [arg for i, arg in enumerate(updated_node.args) if i != self.edit.choice]
            if left:
                left[-1] = left[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
            return updated_node.with_changes(args=left)
        return updated_node


def names(source: str) -> set[str]:
    """The names that a body reads."""
    reader = _Names()
    cst.parse_module(source).visit(reader)
    return reader.found


class _Names(cst.CSTVisitor):
    """Collects names; attributes and keywords are none."""

    def __init__(self) -> None:
        self.found: set[str] = set()

    def visit_Name(self, node: cst.Name) -> None:
        self.found.add(node.value)

    def visit_Attribute(self, node: cst.Attribute) -> bool:
        node.value.visit(self)
        return False

    def visit_Arg(self, node: cst.Arg) -> bool:
        node.value.visit(self)
        return False


def bound(line: str) -> str:
    """The name that an import line binds."""
    return line.split()[-1].partition(".")[0]
