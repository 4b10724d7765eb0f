"""How many examples the large property tests try.

Each change is tried with a fifth of them; ``make fuzz`` tries them all.
"""

from __future__ import annotations

import os

THOROUGH = bool(os.environ.get("FUZZ"))


def examples(number: int) -> int:
    """Return ``number`` in a thorough run, else a fifth of it."""
    return number if THOROUGH else number // 5
