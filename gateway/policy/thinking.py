"""Which models may draw conclusions about people. Pure.

Asked for lasting facts, very small models invent them (docs/local-model.md has the figures), so
they are never asked: with them the person's own sentences are chosen by rule.
"""

from __future__ import annotations

import re

#: billions of parameters below which a model invents more than it finds
LEAST_BILLIONS = 3.0

_SIZE = re.compile(r"(?<![\d.])(\d{1,4}(?:\.\d+)?)\s?([bm])(?![a-z0-9])", re.IGNORECASE)


def billions(name: str) -> float | None:
    """Return the billions of parameters that a model's name tells, None where it tells none."""
    sizes = [float(number) / (1 if unit in "bB" else 1000) for number, unit in _SIZE.findall(name)]
    return max(sizes, default=None)


def can_think(name: str) -> bool:
    """Tell whether a model of this name may be asked for conclusions."""
    size = billions(name)
    return size is None or size >= LEAST_BILLIONS
