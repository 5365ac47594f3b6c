# /// script
# requires-python = "PYTHON"
# dependencies = PACKAGES
# ///
"""TITLE"""
NOTES
import os
import signal
import sys

sys.excepthook = lambda *error: (sys.__excepthook__(*error), sys.exit(125))  # any other failure: cannot tell
IMPORTS

pid = os.fork()  # the call never returns, so a child makes it
if pid == 0:
    signal.alarm(SECONDS)  # ends the child even inside a kernel
    SETUP
    STEPS
    actual = ACTUAL
    os._exit(42)  # it came to an end
status = os.waitpid(pid, 0)[1]
ended = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else f"exit {os.WEXITSTATUS(status)}"
print("expected: DUE")  # WHY
print("actual:  ", ended)
sys.exit(ENDINGS.get(ended, 125))
