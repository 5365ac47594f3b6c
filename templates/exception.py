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
EXPECT
print("expected:", SHOW_EXPECTED)
try:
    STEPS
    actual = ACTUAL
except KIND as error:
    GUARD
    print("actual:  ", f"{type(error).__name__}: {error}")
    sys.exit(1)
print("actual:  ", SHOW_ACTUAL)
sys.exit(0 if SAME else 125)  # LIMIT
