"""Functions of the framework that the user's code replaced while it was imported and built.

A converter's helper often patches a method so that ported code runs; the port then works on its author's machine and
nowhere else. Emitted scripts run without the user's code, hence without its patches.
"""


def places(native):
    """(dotted name, object) of what is looked at: the root, its tensors, its functions, its layers."""
    root = native.root
    found = [(native.name, root), ("%s.Tensor" % native.name, root.Tensor), ("%s.nn" % native.name, root.nn),
             ("%s.nn.functional" % native.name, root.nn.functional)]
    layers = [(name, value) for name, value in vars(root.nn).items() if isinstance(value, type)]
    return found + [("%s.nn.%s" % (native.name, name), value) for name, value in layers]


def snapshot(native):
    """Dotted name -> function, for everything callable."""
    found = {}
    for prefix, holder in places(native):
        for name, value in list(vars(holder).items()):
            if callable(value) or isinstance(value, (staticmethod, classmethod)):
                found["%s.%s" % (prefix, name)] = value
    return found


def changed(native, before):
    """{"name", "file", "line"} of every function that is another one now, or new and made by the user's code."""
    found = []
    for name, value in snapshot(native).items():
        if before.get(name) is value:
            continue
        code = getattr(getattr(value, "__func__", value), "__code__", None)
        own = code is not None and not code.co_filename.startswith((native.folder, "<"))
        if own:
            found.append({"name": name, "file": code.co_filename, "line": code.co_firstlineno})
    return found
