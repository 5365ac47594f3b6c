"""The framework call that raised: its callee and arguments as data, so that it can be made again without the model."""

import ast
import linecache
import types

import numpy

from . import running, trees


def call(native, error):
    """Take the failing call of an exception apart.

    Args:
        native: the framework.
        error: the exception, with its traceback.

    Returns:
        (description, values): {"file", "line", "callee", "method", "args", "kwargs", "text"} with the tensors left out and
        in `values` in their place; None if the innermost line of the user's makes no call that can be told apart.
    """
    places = _places(native, error)
    for frame, line, span in places:
        for node in _calls("".join(linecache.getlines(frame.f_code.co_filename)), line, span):
            found = _described(native, frame, node)
            if found is not None:
                users, number, _ = places[0]
                told = {"file": users.f_code.co_filename, "line": number, "text": ast.unparse(node)}
                return dict(found[0], **told), found[1]
    return None


def _places(native, error):
    """(frame, line, (column, end column) or None) of the user's innermost frame, then of the layers' forwards below it."""
    found, trace = [], error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        ours = code.co_filename.startswith((running.HERE, "<"))
        if not ours and not code.co_filename.startswith(native.folder):
            found = [trace]
        elif not ours and code.co_name == "forward":
            found.append(trace)
        trace = trace.tb_next
    return [(one.tb_frame, one.tb_lineno, _columns(one)) for one in found]


def _columns(trace):
    """The columns of what a frame was doing, or None: Python 3.11 knows them."""
    if not hasattr(trace.tb_frame.f_code, "co_positions"):
        return None
    _, _, start, end = list(trace.tb_frame.f_code.co_positions())[trace.tb_lasti // 2]
    return (start, end) if start is not None else None


def _calls(text, line, span):
    """The calls on a line, the one at the given columns first, then from the outermost to the innermost."""
    try:
        nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    except SyntaxError:
        return []
    nodes = [node for node in nodes if node.lineno <= line <= node.end_lineno]
    exact = [node for node in nodes if span is not None and (node.col_offset, node.end_col_offset) == span]
    return exact + [node for node in nodes if node not in exact]


def _described(native, frame, node):
    """Callee and arguments of a call of the framework, evaluated in its frame; None if it is no such call."""

    def value(part):
        return eval(compile(ast.Expression(part), "<minrepro>", "eval"), frame.f_globals, frame.f_locals)

    try:
        method, receiver = "", None
        if isinstance(node.func, ast.Attribute):
            owner = value(node.func.value)
            if native.is_tensor(owner):
                method, receiver = node.func.attr, owner
            elif not isinstance(owner, types.ModuleType) or owner.__name__.split(".")[0] != native.name:
                return None
            else:
                callee = _public(native, "%s.%s" % (owner.__name__, node.func.attr), getattr(owner, node.func.attr))
        else:
            function = value(node.func)
            if (getattr(function, "__module__", "") or "").split(".")[0] != native.name:
                return None
            callee = _public(native, "%s.%s" % (function.__module__, function.__name__), function)
        args = []
        for part in node.args:
            args += list(value(part.value)) if isinstance(part, ast.Starred) else [value(part)]
        kwargs = {part.arg: value(part.value) for part in node.keywords if part.arg}
    except Exception:
        return None
    values = []

    def take(tensor):
        values.append(tensor)
        return len(values) - 1

    def is_leaf(item):
        return native.is_tensor(item) or isinstance(item, numpy.ndarray)

    if receiver is not None:
        args = [receiver, *args]
        callee = method
    args = [plain(item) for item in args]
    described = {
        "callee": callee, "method": bool(method), "args": trees.written(args, is_leaf, take),
        "kwargs": trees.written(kwargs, is_leaf, take),
    }
    return described, values


def _public(native, callee, function):
    """The name that users write for a function which was found by the name of the file that it is in."""
    name = callee.rpartition(".")[2]
    for path in ("nn.functional", ""):
        holder = native.root
        for part in filter(None, path.split(".")):
            holder = getattr(holder, part, None)
        if getattr(holder, name, None) is function:
            return ".".join(filter(None, (native.name, path, name)))
    return callee


def plain(item):
    """NumPy's numbers as Python's."""
    return item.item() if isinstance(item, numpy.generic) else item
