"""Cuts a long message into numbered parts for a service that limits the size of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import regex

if TYPE_CHECKING:
    from collections.abc import Iterator

#: the least limit: a number of twelve digits with its marker still leaves room for text
LEAST = 16

#: where to cut, the best first; the white space stays with the part before it
_ENDS = (
    regex.compile(r"\n[^\S\n]*+\n\s*+"),
    regex.compile(r"\n\s*+"),
    regex.compile(r"(?:[.!?…]++[\"'”’»)\]]*+(?=\s)\s*+|[。！？]++[”’」』）]*+)"),
    regex.compile(r"\s++"),
)
_CLUSTER = regex.compile(r"\X")


@dataclass(frozen=True, slots=True)
class Chunk:
    """One part: the bodies of all parts, joined, are the message."""

    #: ``[2/5] ``; "" where the message is whole
    marker: str
    body: str

    @property
    def text(self) -> str:
        """The part as it is sent."""
        return self.marker + self.body


def chunks(text: str, limit: int) -> list[Chunk]:
    """Cut ``text`` into parts of at most ``limit`` code points, the marker included.

    Nothing is lost. The cut is behind a paragraph, line, sentence or word in the second half of
    a part, else between characters, and inside a character only where that alone is longer than
    a part. Raises ``ValueError`` for a limit below ``LEAST``.
    """
    if limit < LEAST:
        raise ValueError(f"a part needs at least {LEAST} characters")
    if len(text) <= limit:
        return [Chunk("", text)]
    digits = 1
    while True:
        total = _with_total(digits, limit)
        bodies = list(_bodies(text, limit - _width(digits, total=total)))
        if len(str(len(bodies))) <= digits:
            break
        digits += 1
    tail = f"/{len(bodies)}" if total else ""
    return [Chunk(f"[{number}{tail}] ", body) for number, body in enumerate(bodies, 1)]


def _width(digits: int, *, total: bool) -> int:
    return len("[] ") + digits + (1 + digits if total else 0)


def _with_total(digits: int, limit: int) -> bool:
    """Say how many parts there are unless that would take more room than the text."""
    return _width(digits, total=True) <= limit // 2


def _bodies(text: str, room: int) -> Iterator[str]:
    start = 0
    while len(text) - start > room:
        end = _cut(text, start, start + room)
        yield text[start:end]
        start = end
    yield text[start:]


def _cut(text: str, start: int, limit: int) -> int:
    middle = (start + limit + 1) // 2
    for pattern in _ENDS:
        ends = [min(match.end(), limit) for match in pattern.finditer(text, middle, limit + 1)]
        if ends and _border(text, ends[-1], start):
            return ends[-1]
    return _between_characters(text, start, limit)


def _border(text: str, end: int, start: int) -> bool:
    """Tell whether no character (a letter with its marks, say) spans ``end``."""
    return _between_characters(text, start, end) == end


def _between_characters(text: str, start: int, limit: int) -> int:
    """Return the last end of a character up to ``limit``; ``limit`` where one is too long."""
    window = _CLUSTER.finditer(text, start, limit + 1)
    border = max(match.start() for match in window)
    return border if border > start else limit
