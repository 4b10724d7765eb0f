"""Inline tokens written as text with ranges."""

from __future__ import annotations

from typing import TYPE_CHECKING

import regex

from gateway.model.outbound import SpanKind
from gateway.text.plain import plain
from gateway.text.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it.token import Token

_KINDS = {
    "strong_open": SpanKind.BOLD,
    "em_open": SpanKind.ITALIC,
    "s_open": SpanKind.STRIKE,
}
_CLOSING = frozenset({"strong_close", "em_close", "s_close"})
_WORD = regex.compile(r"\w+")


def write(writer: Writer, tokens: Sequence[Token]) -> None:
    """Write the children of one ``inline`` token."""
    #: of the link that is open
    address = ""
    for index, token in enumerate(tokens):
        if token.type in _KINDS:
            _open(writer, tokens, index)
        elif token.type in _CLOSING:
            _close(writer, tokens, index)
        elif token.type == "link_open":
            address = str(token.attrs["href"])
            _open_link(writer, address)
            if tokens[index + 1].type == "link_close":
                writer.write(address)
        elif token.type == "link_close":
            _close_link(writer, address)
        else:
            _write_leaf(writer, token)


def cell(tokens: Sequence[Token]) -> str:
    """Return the children of one ``inline`` token as a single plain line."""
    writer = Writer()
    write(writer, tokens)
    return " ".join(plain(writer.rich()).split())


def _open(writer: Writer, tokens: Sequence[Token], index: int) -> None:
    if _is_dunder(tokens[index : index + 3]):
        writer.write("__")
    else:
        writer.open(_KINDS[tokens[index].type])


def _close(writer: Writer, tokens: Sequence[Token], index: int) -> None:
    if _is_dunder(tokens[index - 2 : index + 1]):
        writer.write("__")
    else:
        writer.close()


def _is_dunder(tokens: Sequence[Token]) -> bool:
    """Tell whether three tokens are a name such as ``__init__`` rather than bold text."""
    return (
        len(tokens) == 3
        and tokens[0].type == "strong_open"
        and tokens[0].markup == "__"
        and tokens[1].type == "text"
        and _WORD.fullmatch(tokens[1].content) is not None
        and tokens[2].type == "strong_close"
    )


def _open_link(writer: Writer, address: str) -> None:
    if address:
        writer.open(SpanKind.LINK, address)
    else:
        writer.write("[")


def _close_link(writer: Writer, address: str) -> None:
    if address:
        writer.close()
    else:
        writer.write("]()")


def _write_leaf(writer: Writer, token: Token) -> None:
    if token.type in ("softbreak", "hardbreak"):
        writer.newline()
    elif token.type == "code_inline":
        writer.open(SpanKind.CODE)
        writer.write(token.content)
        writer.close()
    elif token.type == "image":
        _write_image(writer, token)
    else:
        writer.write(token.content)


def _write_image(writer: Writer, token: Token) -> None:
    address = str(token.attrs["src"])
    description = Writer()
    write(description, token.children or [])
    words = description.rich().text
    if not address:
        writer.write(f"![{words}]()")
        return
    writer.open(SpanKind.LINK, address)
    writer.write(words or address)
    writer.close()
