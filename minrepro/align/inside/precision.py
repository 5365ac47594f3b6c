"""In which precision did a side really run? Autocast contexts are noted with their line, and can be switched off."""

import contextlib

from . import running

NOTED = []
"""{"file", "line", "dtype"} of every autocast context that was entered while a `Run` was on."""


def install(native, neutral):
    """Patch the framework's autocast.

    Args:
        native: the framework.
        neutral: contexts do nothing, so that every step runs in the dtype of its tensors.
    """
    root = native.root
    if native.paddle:
        root.amp.auto_cast = root.amp.amp_guard = _function(native, root.amp.auto_cast, neutral)
        return
    kind = root.amp.autocast_mode.autocast if native.name == "torch" else getattr(root, "autocast", None)
    if not isinstance(kind, type):
        return
    enter, leave = kind.__enter__, kind.__exit__

    def __enter__(self):
        dtype = getattr(self, "fast_dtype", getattr(self, "dtype", "autocast"))
        if getattr(self, "_enabled", getattr(self, "enabled", True)):
            _note(native, dtype)
        return self if neutral else enter(self)

    def __exit__(self, *error):
        return False if neutral else leave(self, *error)

    kind.__enter__, kind.__exit__ = __enter__, __exit__


def _function(native, original, neutral):
    @contextlib.contextmanager
    def auto_cast(enable=True, *args, **kwargs):
        if enable:
            _note(native, kwargs.get("dtype", "float16"))
        if neutral:
            yield
        else:
            with original(enable, *args, **kwargs):
                yield

    return auto_cast


def _note(native, dtype):
    file, line = running.caller(native)
    entry = {"file": file, "line": line, "dtype": str(dtype).split(".")[-1]}
    if entry not in NOTED:
        NOTED.append(entry)
