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

pid = os.fork()  # the call ends its process, so a child makes it
if pid == 0:
    SETUP
    STEPS
    actual = ACTUAL
    sys.exit(42)  # it came to an end
status = os.waitpid(pid, 0)[1]
ended = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else f"exit {os.WEXITSTATUS(status)}"
print("expected: DUE")  # WHY
print("actual:  ", ended)
sys.exit(ENDINGS.get(ended, 125))
