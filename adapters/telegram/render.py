"""Pure: rich text becomes a Telegram text with entities in UTF-16 units, never a parse mode."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from telegram import MessageEntity

from gateway.model.outbound import SpanKind
from gateway.text import ranges
from gateway.text.ranges import Range
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


def _range(kind: SpanKind, start: int, end: int, value: str = "") -> Range:
    rank = 0 if kind is SpanKind.QUOTE else 2 if kind in _EXCLUSIVE else 1
    return Range(start, -end, rank, kind, value)


def render(content: RichText) -> tuple[str, list[MessageEntity]]:
    """Return the text and entities that Telegram keeps as they are.

    Entities nest or are apart, code holds no style and lies in no link, quotes hold no quotes,
    and none is empty; a link that Telegram would refuse stays as its text. The visible text is
    never changed, except that a lone surrogate, which no request can carry, becomes U+FFFD.
    """
    nested = ranges.nested(_legal(content.spans, len(content.text)))
    starts = utf16_offsets(content.text, [item.start for item in nested])
    ends = utf16_offsets(content.text, [item.end for item in nested])
    entities = [
        MessageEntity(
            _TYPES[item.kind],
            start,
            end - start,
            url=item.value if item.kind is SpanKind.LINK else None,
            language=(item.value or None) if item.kind is SpanKind.PRE else None,
        )
        for item, start, end in zip(nested, starts, ends, strict=True)
    ]
    return _SURROGATES.sub("\ufffd", content.text), entities


def _legal(spans: Sequence[Span], length: int) -> list[Range]:
    """Return ranges that fulfil every rule but proper nesting."""
    clipped = [
        _range(span.kind, max(span.start, 0), min(span.end, length), span.value)
        for span in spans
        if max(span.start, 0) < min(span.end, length)
        and not (span.kind is SpanKind.LINK and not _ADDRESS.fullmatch(span.value))
    ]
    quotes = ranges.joined(item for item in clipped if item.kind is SpanKind.QUOTE)
    exclusive: list[Range] = []
    for kind in _EXCLUSIVE:
        for item in sorted(item for item in clipped if item.kind is kind):
            exclusive += ranges.outside(_within(item, quotes), exclusive)
    code = [item for item in exclusive if item.kind is not SpanKind.LINK]
    styles = [
        piece
        for kinds in _STYLES
        for merged in ranges.joined(item for item in clipped if item.kind in kinds)
        for piece in ranges.outside(merged, code)
    ]
    return quotes + styles + exclusive


def _within(item: Range, quotes: Iterable[Range]) -> Range:
    """Return ``item`` without what sticks out of a quote: Telegram would drop all of it."""
    for quote in quotes:
        if quote.start < item.end and item.start < quote.end:
            return item.between(max(item.start, quote.start), min(item.end, quote.end))
    return item
