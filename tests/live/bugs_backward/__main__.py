"""``python -m tests.live.bugs_backward [NAME ...] [--json]``: the same table for bugs in gradients.

The elements of a case are those of its inputs and of its incoming gradient.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.live.bugs import __main__ as table

EXPLAINED = {
    "paddle_max_pool_mask_ceil_backward_hang": "an incoming gradient that fits torch's result does not fit Paddle's, which "
    "has one window more; forward mode reports that window",
}

if __name__ == "__main__":
    table.HERE, table.EXPLAINED = Path(__file__).parent, EXPLAINED
    sys.exit(table.main())
