"""``python -m tests.live.bugs_backward [NAME ...] [--json]``: the same table for bugs in gradients.

The elements of a case are those of its inputs and of its incoming gradient.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.live.bugs import __main__ as table

if __name__ == "__main__":
    table.HERE = Path(__file__).parent
    sys.exit(table.main())
