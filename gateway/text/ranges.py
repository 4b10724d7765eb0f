"""Pure: formatting as ranges that can be joined, cut, and made to nest or be apart."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gateway.model.outbound import SpanKind


@dataclass(frozen=True, slots=True, order=True)
class Range:
    """Orders by start, then longest first, then by rank (outermost first): parents first."""

    start: int
    negative_end: int
    rank: int
    kind: SpanKind
    value: str = ""

    @property
    def end(self) -> int:
        """Where the range ends, exclusive."""
        return -self.negative_end

    def between(self, start: int, end: int) -> Range:
        """Return the same formatting from ``start`` to ``end``."""
        return Range(start, -end, self.rank, self.kind, self.value)


def joined(items: Iterable[Range], *, touching: bool = False) -> list[Range]:
    """Join ranges that overlap, or also those that merely touch; in order."""
    done: list[Range] = []
    for item in sorted(items):
        if done and item.start < done[-1].end + touching:
            last = done[-1]
            done[-1] = last.between(last.start, max(last.end, item.end))
        else:
            done.append(item)
    return done


def outside(item: Range, others: Iterable[Range]) -> list[Range]:
    """Return what is left of ``item`` outside the others."""
    pieces, start = [], item.start
    for other in sorted(others):
        if other.end <= start or other.start >= item.end:
            continue
        if other.start > start:
            pieces.append(item.between(start, other.start))
        start = other.end
    if start < item.end:
        pieces.append(item.between(start, item.end))
    return pieces


def nested(items: Iterable[Range]) -> list[Range]:
    """Cut what sticks out of an enclosing range; parents come before their children."""
    waiting = list(items)
    heapq.heapify(waiting)
    done: list[Range] = []
    enclosing: list[Range] = []
    while waiting:
        item = heapq.heappop(waiting)
        while enclosing and enclosing[-1].end <= item.start:
            enclosing.pop()
        if enclosing and item.end > enclosing[-1].end:
            heapq.heappush(waiting, item.between(enclosing[-1].end, item.end))
            item = item.between(item.start, enclosing[-1].end)
        done.append(item)
        enclosing.append(item)
    return done
