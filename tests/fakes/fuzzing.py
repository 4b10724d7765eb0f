"""How long the long tests are.

Each change is tried with a short form of them; ``make thorough`` runs them in full.
"""

from __future__ import annotations

import os

THOROUGH = bool(os.environ.get("THOROUGH"))


def examples(number: int) -> int:
    """Return ``number`` in a thorough run, else a fifth of it."""
    return number if THOROUGH else number // 5
