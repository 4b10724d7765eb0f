"""Pure: spans of any kind become ranges that nest or are apart."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from gateway.model.outbound import SpanKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gateway.model.outbound import Span

#: among equal ranges the outermost first
_RANKS = {
    SpanKind.QUOTE: 0,
    SpanKind.HEADING: 1,
    SpanKind.LINK: 2,
    SpanKind.BOLD: 3,
    SpanKind.STRIKE: 4,
    SpanKind.ITALIC: 5,
    SpanKind.CODE: 6,
    SpanKind.PRE: 7,
}
#: two of them that touch are one: marks between them would mark nothing
_STYLES = (SpanKind.BOLD, SpanKind.STRIKE, SpanKind.ITALIC, SpanKind.CODE)


@dataclass(frozen=True, slots=True, order=True)
class Range:
    """Orders by start, then longest first, then outermost kind: parents before children."""

    start: int
    negative_end: int
    rank: int
    kind: SpanKind
    value: str = ""

    @property
    def end(self) -> int:
        return -self.negative_end

    def between(self, start: int, end: int) -> Range:
        return Range(start, -end, self.rank, self.kind, self.value)


def nested(text: str, spans: Sequence[Span]) -> list[Range]:
    """Return the spans within ``text``, parents before children, none empty.

    Blocks of code hold nothing but text. A range that sticks out of another one is cut there.
    """
    items = [
        Range(max(s.start, 0), -min(s.end, len(text)), _RANKS[s.kind], s.kind, s.value)
        for s in spans
        if max(s.start, 0) < min(s.end, len(text))
    ]
    by_kind = {kind: [one for one in items if one.kind is kind] for kind in SpanKind}
    blocks = _joined(by_kind.pop(SpanKind.PRE))
    quotes = _joined(by_kind.pop(SpanKind.QUOTE))
    inline = [
        *by_kind.pop(SpanKind.LINK),
        *(one for kind, held in by_kind.items() for one in _joined(held, kind in _STYLES)),
    ]
    inline = [piece for one in inline for piece in _outside(one, blocks)]
    edges = sorted({edge for quote in quotes for edge in (quote.start, quote.end)})
    return _cut([*quotes, *(piece for one in (*blocks, *inline) for piece in _at(one, edges))])


def _joined(items: list[Range], touching: bool = False) -> list[Range]:
    joined: list[Range] = []
    for item in sorted(items):
        if joined and item.start < joined[-1].end + touching:
            last = joined[-1]
            joined[-1] = last.between(last.start, max(last.end, item.end))
        else:
            joined.append(item)
    return joined


def _outside(item: Range, blocks: Iterable[Range]) -> list[Range]:
    """Return what is left of ``item`` outside the blocks, which are in order."""
    pieces, start = [], item.start
    for block in blocks:
        if block.end <= start or block.start >= item.end:
            continue
        if block.start > start:
            pieces.append(item.between(start, block.start))
        start = block.end
    if start < item.end:
        pieces.append(item.between(start, item.end))
    return pieces


def _at(item: Range, edges: Iterable[int]) -> list[Range]:
    """Cut ``item`` at the edges of quotes, which are lines of their own."""
    inner = [edge for edge in edges if item.start < edge < item.end]
    return [item.between(*ends) for ends in pairwise((item.start, *inner, item.end))]


def _cut(items: list[Range]) -> list[Range]:
    heapq.heapify(items)
    done: list[Range] = []
    enclosing: list[Range] = []
    while items:
        item = heapq.heappop(items)
        while enclosing and enclosing[-1].end <= item.start:
            enclosing.pop()
        if enclosing and item.end > enclosing[-1].end:
            heapq.heappush(items, item.between(enclosing[-1].end, item.end))
            item = item.between(item.start, enclosing[-1].end)
        done.append(item)
        enclosing.append(item)
    return done
