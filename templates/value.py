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
STEPS
EXPECT
actual = ACTUAL
print("expected:", SHOW_EXPECTED)
print("actual:  ", SHOW_ACTUAL)
sys.exit(0 if SAME else 1)  # LIMIT
