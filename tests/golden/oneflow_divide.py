# /// script
# requires-python = ">=3.8,<3.11"
# dependencies = ["oneflow==0.9.0", "numpy<2", "protobuf<4", "nvidia-cublas-cu11==11.10.3.66", "nvidia-cudnn-cu11==8.5.0.96"]
# ///
"""OneFlow: `x // z` ends the process (SIGFPE) for int64"""
import os
import signal
import sys

sys.excepthook = lambda *error: (sys.__excepthook__(*error), sys.exit(125))  # any other failure: cannot tell
import oneflow as flow

pid = os.fork()  # the call ends its process, so a child makes it
if pid == 0:
    x = flow.tensor([1])
    z = flow.tensor([0])
    y = x // z
    actual = y.tolist()
    sys.exit(42)  # it came to an end
status = os.waitpid(pid, 0)[1]
ended = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else f"exit {os.WEXITSTATUS(status)}"
print("expected: exit 42 or 125 (a result or an exception)")  # an exception or any number, but not the end of the process
print("actual:  ", ended)
sys.exit({"SIGFPE": 1, "exit 42": 0, "exit 125": 0}.get(ended, 125))
