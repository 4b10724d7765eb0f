"""Ranges as words: what is left of formatted text where no formatting can be shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.model.outbound import SpanKind
from gateway.text.units import utf16_length

if TYPE_CHECKING:
    from gateway.model.outbound import RichText


def plain(rich: RichText, *, limit: int | None = None) -> str:
    """Return the text without ranges; a link's address follows its words in parentheses.

    ``limit`` is in UTF-16 units: an address that would not fit any more is left out.
    """
    room = None if limit is None else limit - utf16_length(rich.text)
    pieces, position = [], 0
    for span in sorted(rich.spans, key=lambda span: span.end):
        if span.kind is not SpanKind.LINK or _shows(rich.text[span.start : span.end], span.value):
            continue
        address = f" ({span.value})"
        if room is not None:
            if utf16_length(address) > room:
                continue
            room -= utf16_length(address)
        pieces += [rich.text[position : span.end], address]
        position = span.end
    return "".join([*pieces, rich.text[position:]])


def _shows(words: str, address: str) -> bool:
    return words.strip() in (
        address,
        address.removeprefix("mailto:"),
        address.removeprefix("tel:"),
    )
