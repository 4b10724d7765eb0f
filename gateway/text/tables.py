"""A table as aligned lines for a fixed-width font."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

import regex

if TYPE_CHECKING:
    from collections.abc import Sequence

#: a cell wider than this pushes its own row out of line instead of padding every other row
WIDEST = 40

#: times that padding may make a table longer
_MOST_PADDING = 8

_CLUSTER = regex.compile(r"\X")
_ZERO_WIDTH = frozenset({"Mn", "Me", "Cf", "Cc"})
_EMOJI_SELECTOR = "\ufe0f"


def display_width(text: str) -> int:
    """Return how many columns ``text`` takes: two for a wide character or an emoji."""
    if text.isascii():
        return len(text)
    return sum(_cluster_width(cluster) for cluster in _CLUSTER.findall(text))


def layout(rows: Sequence[Sequence[str]], aligns: Sequence[str]) -> str:
    """Draw ``rows``, the first being the header; ``aligns`` is left, right, center or "" each.

    Every row has as many cells as there are aligns. Columns are aligned unless padding would
    make the text several times longer.
    """
    widths = [
        min(WIDEST, max(display_width(row[column]) for row in rows))
        for column in range(len(aligns))
    ]
    if sum(widths) * len(rows) > _MOST_PADDING * sum(
        len(cell) + 1 for row in rows for cell in row
    ):
        widths = [0] * len(widths)
    lines = [_line(row, widths, aligns) for row in rows]
    lines.insert(1, "-+-".join("-" * width for width in widths))
    return "\n".join(lines)


def _line(row: Sequence[str], widths: Sequence[int], aligns: Sequence[str]) -> str:
    cells = [_pad(*cell) for cell in zip(row, widths, aligns, strict=True)]
    while len(cells) > 1 and not cells[-1].strip():
        cells.pop()
    return " | ".join(cells).rstrip()


def _pad(text: str, width: int, align: str) -> str:
    room = max(0, width - display_width(text))
    before = {"right": room, "center": room // 2}.get(align, 0)
    return " " * before + text + " " * (room - before)


def _cluster_width(cluster: str) -> int:
    if _EMOJI_SELECTOR in cluster or "\U0001f1e6" <= cluster[0] <= "\U0001f1ff":
        return 2
    if any(unicodedata.east_asian_width(char) in "WF" for char in cluster):
        return 2
    return 0 if unicodedata.category(cluster[0]) in _ZERO_WIDTH else 1
