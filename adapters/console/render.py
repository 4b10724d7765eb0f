"""``RichText`` as Markdown for a pipe, and text made harmless for a terminal. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gateway.model.outbound import RichText, Span, SpanKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_INLINE = {SpanKind.BOLD: "**", SpanKind.ITALIC: "*", SpanKind.STRIKE: "~~", SpanKind.CODE: "`"}


def _harmless() -> dict[int, str]:
    """Map what a terminal would obey to one visible character each, so that spans stay right."""
    table = {code: chr(0x2400 + code) for code in range(0x20)}
    table |= {0x7F: "\u2421", 0x0D: " "}
    table |= dict.fromkeys((*range(0x80, 0xA0), *range(0x202A, 0x202F)), "\ufffd")
    table |= dict.fromkeys(range(0x2066, 0x206A), "\ufffd")
    del table[0x09], table[0x0A]
    return table


_HARMLESS = _harmless()


def neutralised(text: str) -> str:
    """Return ``text``, of the same length, without characters that steer a terminal."""
    return text.translate(_HARMLESS)


def cut(content: RichText, start: int) -> RichText:
    """Return ``content`` from code point ``start`` on."""
    spans = (
        replace(span, start=max(0, span.start - start), end=span.end - start)
        for span in content.spans
        if span.end > start
    )
    return RichText(content.text[start:], tuple(spans))


def plain(content: RichText) -> str:
    """Return Markdown much as the model wrote it, code fences included."""
    marks = (
        mark for order, span in enumerate(content.spans) for mark in _marks(content, span, order)
    )
    return _inserted(content.text, (((at, *key), text) for at, key, text in marks))


def _marks(
    content: RichText, span: Span, order: int
) -> Iterator[tuple[int, tuple[int, int, int], str]]:
    """Yield (position, order there, text): ends first, inner ones before outer ones."""
    opening, closing = _ends(content, span)
    begin, end = (1, -span.end, order), (0, -span.start, -order)
    if opening:
        yield span.start, begin, opening
    if prefix := _line_prefix(span):
        for at in range(span.start, span.end):
            if at > span.start and content.text[at - 1] == "\n":
                yield at, begin, prefix
    if closing:
        yield span.end, end, closing


def _ends(content: RichText, span: Span) -> tuple[str, str]:
    if span.kind is SpanKind.PRE:
        closed = content.text[span.start : span.end].endswith("\n")
        return f"```{span.value}\n", "```" if closed else "\n```"
    if span.kind is SpanKind.LINK:
        return ("", "") if shows_address(content, span) else ("[", f"]({span.value})")
    if prefix := _line_prefix(span):
        return prefix, ""
    mark = _INLINE[span.kind]
    return mark, mark


def _line_prefix(span: Span) -> str:
    if span.kind is SpanKind.HEADING:
        return "#" * int(span.value or 1) + " "
    return "> " if span.kind is SpanKind.QUOTE else ""


def shows_address(content: RichText, span: Span) -> bool:
    """Say whether a link shows its own address."""
    return content.text[span.start : span.end] in (span.value, span.value.removeprefix("mailto:"))


def _inserted(text: str, insertions: Iterable[tuple[tuple[int, int, int, int], str]]) -> str:
    pieces, done = [], 0
    for (at, *_), mark in sorted(insertions):
        pieces += [text[done:at], mark]
        done = at
    return "".join([*pieces, text[done:]])
