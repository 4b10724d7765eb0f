"""One rich text behind another, and buttons put into words that way."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gateway.model.outbound import RichText, Span
from gateway.text.markup import parse

if TYPE_CHECKING:
    from gateway.model.outbound import Part

GAP = "\n\n"


def in_words(part: Part) -> Part:
    """Return a part without its buttons, saying how to answer by words."""
    if part.choice is None or not part.choice.instead:
        return replace(part, choice=None)
    content = behind(part.content, parse(part.choice.instead))
    return replace(part, content=content, choice=None)


def behind(content: RichText, line: RichText) -> RichText:
    """Return ``content`` with ``line`` as its last paragraph."""
    start = len(content.text) + len(GAP)
    moved = tuple(
        Span(span.kind, span.start + start, span.end + start, span.value) for span in line.spans
    )
    return RichText(content.text + GAP + line.text, content.spans + moved)
