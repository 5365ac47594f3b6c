# /// script
# requires-python = "PYTHON"
# dependencies = PACKAGES
# ///
"""TITLE"""
NOTES
import contextlib
import sys

import numpy as np
IMPORTS

sys.excepthook = lambda *error: (sys.__excepthook__(*error), sys.exit(125))  # any other failure: cannot tell
SETUP
EXPECT


def reference(PARAMETERS):
    REFERENCE


def port(PARAMETERS):
    PORT


if __name__ == "__main__":
    with contextlib.suppress(ImportError):  # where its framework is not, what it gave stands above
        RIGHT
    actual = ACTUAL
    print("reference:", SHOW_EXPECTED)
    print("port:     ", SHOW_ACTUAL)
    alike = (actual.shape, actual.dtype) == (expected.shape, expected.dtype)
    sys.exit(0 if alike and SAME else 1)  # LIMIT
