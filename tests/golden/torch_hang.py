# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
# ///
"""PyTorch: torch.nn.functional.relu never returns"""
import os
import signal
import sys

sys.excepthook = lambda *error: (sys.__excepthook__(*error), sys.exit(125))  # any other failure: cannot tell
import torch
import torch.nn.functional as F

pid = os.fork()  # the call never returns, so a child makes it
if pid == 0:
    signal.alarm(10)  # ends the child even inside a kernel
    x = torch.ones([1, 1])
    y = F.relu(x)
    actual = y.tolist()
    os._exit(42)  # it came to an end
status = os.waitpid(pid, 0)[1]
ended = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else f"exit {os.WEXITSTATUS(status)}"
print("expected: exit 42 (the call returns)")  # an answer
print("actual:  ", ended)
sys.exit({"SIGALRM": 1, "exit 42": 0}.get(ended, 125))
