"""Lengths and offsets in the units that platforms count in."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_LAST_BMP = "\uffff"


def utf16_length(text: str) -> int:
    """Return how many UTF-16 units ``text`` takes; a lone surrogate counts as one."""
    if text.isascii():
        return len(text)
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def measure(text: str, unit: str) -> int:
    """Return the length of ``text`` in ``unit``: a ``Capabilities.length_unit``."""
    if unit == "utf16":
        return utf16_length(text)
    if unit == "points":
        return len(text)
    raise ValueError(f"unknown unit of length {unit!r}: use 'utf16' or 'points'")


def utf16_offsets(text: str, positions: Sequence[int]) -> list[int]:
    """Turn code point positions (any order, 0 to ``len(text)``) into UTF-16 offsets."""
    if text.isascii():
        return list(positions)
    wide = [index for index, char in enumerate(text) if char > _LAST_BMP]
    return [position + bisect_left(wide, position) for position in positions]
