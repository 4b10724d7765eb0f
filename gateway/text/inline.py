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
    #: where the open link began, and its address
    link = (0, "")
    for index, token in enumerate(tokens):
        if token.type in _KINDS:
            _open(writer, tokens, index)
        elif token.type in _CLOSING:
            _close(writer, tokens, index)
        elif token.type == "link_open":
            link = (writer.length, str(token.attrs["href"]))
            writer.open(SpanKind.LINK, link[1])
        elif token.type == "link_close":
            if writer.length == link[0]:
                writer.write(link[1])
            writer.close()
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
    writer.open(SpanKind.LINK, address)
    writer.write(description.rich().text or address)
    writer.close()
