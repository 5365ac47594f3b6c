# /// script
# requires-python = "PYTHON"
# dependencies = PACKAGES
# ///
"""TITLE"""
NOTES
import sys

sys.excepthook = lambda *error: (sys.__excepthook__(*error), sys.exit(125))  # any other failure: cannot tell
IMPORTS

SETUP
print("expected: an exception")  # WHY
try:
    STEPS
    actual, status = ACTUAL, 1
except Exception as error:
    actual, status = f"{type(error).__name__}: {error}", 0
print("actual:  ", actual)
sys.exit(status)
