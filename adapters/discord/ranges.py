"""Pure: spans of any kind become ranges that nest or are apart."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from gateway.model.outbound import SpanKind
from gateway.text import ranges
from gateway.text.ranges import Range

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
    blocks = ranges.joined(by_kind.pop(SpanKind.PRE))
    quotes = ranges.joined(by_kind.pop(SpanKind.QUOTE))
    inline = [
        *by_kind.pop(SpanKind.LINK),
        *(
            one
            for kind, held in by_kind.items()
            for one in ranges.joined(held, touching=kind in _STYLES)
        ),
    ]
    inline = [piece for one in inline for piece in ranges.outside(one, blocks)]
    edges = sorted({edge for quote in quotes for edge in (quote.start, quote.end)})
    return ranges.nested(
        [*quotes, *(piece for one in (*blocks, *inline) for piece in _at(one, edges))]
    )


def _at(item: Range, edges: Iterable[int]) -> list[Range]:
    """Cut ``item`` at the edges of quotes, which are lines of their own."""
    inner = [edge for edge in edges if item.start < edge < item.end]
    return [item.between(*ends) for ends in pairwise((item.start, *inner, item.end))]
