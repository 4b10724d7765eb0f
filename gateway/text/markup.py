"""Markdown to visible text with ranges, and from there to plain text."""

from __future__ import annotations

from gateway.model.outbound import RichText
from gateway.text import dialect
from gateway.text.blocks import Blocks
from gateway.text.clean import blank, clean, invisible
from gateway.text.plain import plain

__all__ = ["MAX_SOURCE", "parse", "plain"]

#: longer texts are not parsed: they take seconds, and nobody formats a book in a chat
MAX_SOURCE = 200_000

_PARSER = dialect.build()


def parse(markdown: str) -> RichText:
    """Turn what a model wrote into visible text with ranges.

    Never fails and never drops a visible word. Ranges nest, stand in the order in which they
    open, and are not blank; a heading's ``value`` is its level. Text that is too long, nested
    too deep, or nothing but marks comes back as it is, without ranges. Only for a ``blank``
    text can nothing of the result be seen.
    """
    source = clean(markdown)
    if len(source) > MAX_SOURCE:
        return RichText(source)
    tokens = _PARSER.parse(source)
    if any(token.level >= dialect.MAX_NESTING - 1 for token in tokens):
        return RichText(source)
    rich = Blocks(tokens).rich()
    return RichText(source) if invisible(rich.text) and not blank(source) else rich
