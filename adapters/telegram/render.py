"""Pure: rich text becomes a Telegram text with entities in UTF-16 units, never a parse mode."""

from __future__ import annotations

import heapq
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from telegram import MessageEntity

from gateway.model.outbound import SpanKind
from gateway.text.units import utf16_offsets

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gateway.model.outbound import RichText, Span

_TYPES = {
    SpanKind.BOLD: MessageEntity.BOLD,
    SpanKind.HEADING: MessageEntity.BOLD,
    SpanKind.ITALIC: MessageEntity.ITALIC,
    SpanKind.STRIKE: MessageEntity.STRIKETHROUGH,
    SpanKind.CODE: MessageEntity.CODE,
    SpanKind.PRE: MessageEntity.PRE,
    SpanKind.LINK: MessageEntity.TEXT_LINK,
    SpanKind.QUOTE: MessageEntity.BLOCKQUOTE,
}

#: these cannot overlap one another; the earlier kind keeps the range
_EXCLUSIVE = (SpanKind.PRE, SpanKind.LINK, SpanKind.CODE)
#: these may overlap anything but code; a heading is bold and merges with it
_STYLES = (
    (SpanKind.BOLD, SpanKind.HEADING),
    (SpanKind.ITALIC,),
    (SpanKind.STRIKE,),
)

_SURROGATES = re.compile("[\ud800-\udfff]")
#: Addresses that Telegram takes as they are. Another one (``localhost``, ``tel:``) makes it
#: refuse the whole message, ``mailto:`` becomes a wrong address, ``tg://user`` pings a person.
_ADDRESS = re.compile(
    r"https?://(?:[^\s/?#@\\]*@)?"
    r"[\w-]+(?:\.[\w-]+)+"
    r"(?::(?:[1-9]\d{0,3}|[1-5]\d{4}|6[0-4]\d{3}))?"
    r"(?:[/?#][^\x00-\x1f\x7f]*)?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, order=True)
class _Range:
    """Orders by start, then longest first, then outermost kind: parents before children."""

    start: int
    negative_end: int
    rank: int
    kind: SpanKind
    value: str = ""

    @property
    def end(self) -> int:
        return -self.negative_end

    def between(self, start: int, end: int) -> _Range:
        return _range(self.kind, start, end, self.value)


def _range(kind: SpanKind, start: int, end: int, value: str = "") -> _Range:
    rank = 0 if kind is SpanKind.QUOTE else 2 if kind in _EXCLUSIVE else 1
    return _Range(start, -end, rank, kind, value)


def render(content: RichText) -> tuple[str, list[MessageEntity]]:
    """Return the text and entities that Telegram keeps as they are.

    Entities nest or are apart, code holds no style and lies in no link, quotes hold no quotes,
    and none is empty; a link that Telegram would refuse stays as its text. The visible text is
    never changed, except that a lone surrogate, which no request can carry, becomes U+FFFD.
    """
    ranges = _nested(_legal(content.spans, len(content.text)))
    starts = utf16_offsets(content.text, [item.start for item in ranges])
    ends = utf16_offsets(content.text, [item.end for item in ranges])
    entities = [
        MessageEntity(
            _TYPES[item.kind],
            start,
            end - start,
            url=item.value if item.kind is SpanKind.LINK else None,
            language=(item.value or None) if item.kind is SpanKind.PRE else None,
        )
        for item, start, end in zip(ranges, starts, ends, strict=True)
    ]
    return _SURROGATES.sub("\ufffd", content.text), entities


def _legal(spans: Sequence[Span], length: int) -> list[_Range]:
    """Return ranges that fulfil every rule but proper nesting."""
    clipped = [
        _range(span.kind, max(span.start, 0), min(span.end, length), span.value)
        for span in spans
        if max(span.start, 0) < min(span.end, length)
        and not (span.kind is SpanKind.LINK and not _ADDRESS.fullmatch(span.value))
    ]
    quotes = _union(item for item in clipped if item.kind is SpanKind.QUOTE)
    exclusive: list[_Range] = []
    for kind in _EXCLUSIVE:
        for item in sorted(item for item in clipped if item.kind is kind):
            exclusive += _subtract(_within(item, quotes), exclusive)
    code = [item for item in exclusive if item.kind is not SpanKind.LINK]
    styles = [
        piece
        for kinds in _STYLES
        for merged in _union(item for item in clipped if item.kind in kinds)
        for piece in _subtract(merged, code)
    ]
    return quotes + styles + exclusive


def _within(item: _Range, quotes: Iterable[_Range]) -> _Range:
    """Return ``item`` without what sticks out of a quote: Telegram would drop all of it."""
    for quote in quotes:
        if quote.start < item.end and item.start < quote.end:
            return item.between(max(item.start, quote.start), min(item.end, quote.end))
    return item


def _union(items: Iterable[_Range]) -> list[_Range]:
    """Join overlapping ranges of one kind; those that merely touch stay apart."""
    joined: list[_Range] = []
    for item in sorted(items):
        if joined and item.start < joined[-1].end:
            last = joined[-1]
            joined[-1] = last.between(last.start, max(last.end, item.end))
        else:
            joined.append(item)
    return joined


def _subtract(item: _Range, others: Iterable[_Range]) -> list[_Range]:
    """Return what is left of ``item`` outside ``others``."""
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


def _nested(items: list[_Range]) -> list[_Range]:
    """Cut what sticks out of an enclosing range, so that ranges nest or are apart."""
    heapq.heapify(items)
    done: list[_Range] = []
    enclosing: list[_Range] = []
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
