"""Two rungs that watch one real call: ``log`` above autograd, where composite operators are still whole, and
``dispatch`` below it, where they have come apart.

``log`` is a dispatch mode at the PreDispatch key, the place where `torch.export` sees `linear` and `layer_norm`. Torch
lets only its own modes in there; `SchemaCheckMode` is one of them and can be derived from.
"""

import contextlib
import sys

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from . import calls
from .functions import Functions
from .model import HERE, TORCH
from .record import Recorder


class Watch:
    """What both modes share: the recorder, the module path by hooks, the source line from the Python stack."""

    def __init__(self, subject, rows):
        self.subject = subject
        self.stack = [""]
        self.kinds = {}
        self.recorder = Recorder(subject.module, self.where, rows)

    def where(self):
        """(module path, ``file:line``) of the running call."""
        return self.stack[-1], self.source()

    def source(self):
        """The innermost frame of the user's code; of an installed package if there is no other."""
        frame, installed = sys._getframe(2), ""
        while frame is not None:
            file = frame.f_code.co_filename
            kind = self.kinds.get(file)
            if kind is None:
                kind = self.kinds[file] = _kind(file)
            if kind == "ours" and frame.f_code.co_name in ("record", "make_fx"):
                break
            if kind == "user":
                return "%s:%d" % (file, frame.f_lineno)
            if kind == "installed" and not installed:
                installed = "%s:%d" % (file, frame.f_lineno)
            frame = frame.f_back
        return installed

    def enter(self, module, _):
        """Hook before a module's forward."""
        self.stack.append(self.subject.paths.get(id(module), self.stack[-1]))

    def leave(self, module, _, result):
        """Hook after a module's forward."""
        self.stack.pop()

    def record(self, mode):
        """Call the model under a mode; return the finished recording."""
        with self.hooked(), self.subject.started() as (args, kwargs):
            self.feed(args, kwargs)
            with Functions(self.recorder), mode:
                tensors = self.subject.tensors_of(self.subject.module(*args, **kwargs))
            return self.recorder.finish(tensors)

    def feed(self, args, kwargs):
        """Make the tensors of a call graph inputs under the names of forward's parameters."""
        for name, tensor in self.subject.named(args, kwargs):
            if self.recorder.find(tensor) is None:
                self.recorder.input(tensor, "input", name, name)

    @contextlib.contextmanager
    def hooked(self):
        """Follow which module is running."""
        hooks = (
            torch.nn.modules.module.register_module_forward_pre_hook(self.enter),
            torch.nn.modules.module.register_module_forward_hook(self.leave, always_call=True),
        )
        try:
            yield
        finally:
            for hook in hooks:
                hook.remove()


def _kind(file):
    if file.startswith((HERE, TORCH, "<")):
        return "ours"
    return "installed" if "site-packages" in file else "user"


def log(subject, rows):
    """Record at the PreDispatch key: the operators that the user's code called."""
    from torch._C import _DisablePythonDispatcher, _EnablePythonDispatcher
    from torch._subclasses.schema_check_mode import SchemaCheckMode

    watch = Watch(subject, rows)

    class Mode(SchemaCheckMode):
        def __init__(self):
            super().__init__()
            self.__dict__["_dispatch_key"] = torch._C.DispatchKey.PreDispatch
            self.enabled = []

        def __enter__(self):
            super().__enter__()
            # Python kernels are looked up only while the Python dispatcher is on.
            self.enabled.append(_EnablePythonDispatcher())
            self.enabled[-1].__enter__()
            return self

        def __exit__(self, *error):
            self.enabled.pop().__exit__(*error)
            return super().__exit__(*error)

    mode = Mode()

    def run(func, args, kwargs):
        # Inside the call everything is torch's own: no decompositions written in Python.
        with _DisablePythonDispatcher():
            return func(*args, **kwargs)

    def apart(func, args, kwargs):
        # The kernel in C++: `decompose` may prefer a Python one, and those round differently.
        with mode:
            return func._op_dk(torch._C.DispatchKey.CompositeImplicitAutograd, *args, **kwargs)

    def observed(self, func, types, args=(), kwargs=None):
        return calls.observe(watch.recorder, func, args, kwargs or {}, run, apart)

    # Set after the class was made: the base class wraps what it finds in the body, and that imports the compiler.
    Mode.__torch_dispatch__ = observed
    return watch.record(mode)


def dispatch(subject, rows):
    """Record at the Python key: the kernels that ran. Never refused a model in our trials."""
    watch = Watch(subject, rows)

    class Mode(TorchDispatchMode):
        pass

    def run(func, args, kwargs):
        return func(*args, **kwargs)

    def observed(self, func, types, args=(), kwargs=None):
        return calls.observe(watch.recorder, func, args, kwargs or {}, run, None)

    Mode.__torch_dispatch__ = observed
    return watch.record(Mode())
