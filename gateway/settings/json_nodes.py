"""Read JSON as placed nodes with the raw text of every number.

The stdlib reader keeps the last of two equal keys, knows no lines and accepts NaN; this one
refuses such things with their line.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from json import JSONDecodeError, JSONDecoder
from typing import TYPE_CHECKING, NoReturn

from gateway.settings.files import UnreadableError
from gateway.settings.nodes import MAX_DEPTH, Entry, Items, Node, Scalar, Source, Style, Table

if TYPE_CHECKING:
    from pathlib import Path

_SPACE = re.compile(r"[ \t\r\n]*")
_WORD = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null")
_STRINGS = JSONDecoder()
_WORD_END = re.compile(r"[\s,:\]}]|\Z")


def parse_json(text: str, file: Path) -> Node:
    """Return the document. Raises ``UnreadableError`` with the line for what is not JSON."""
    return _Reader(text, file).document()


class _Reader:
    """A cursor over the text."""

    def __init__(self, text: str, file: Path) -> None:
        self._text = text
        self._file = file
        self._at = 0
        self._breaks = [found.start() for found in re.finditer("\n", text)]

    def document(self) -> Node:
        self._skip()
        if self._at == len(self._text):
            self._fail("nothing in it; write {} or remove the file")
        node = self._value(0)
        self._skip()
        if self._at != len(self._text):
            self._fail("more after the end; remove it")
        return node

    def _value(self, depth: int) -> Node:
        if depth > MAX_DEPTH:
            self._fail("nested too deeply")
        head = self._peek()
        if head == "{":
            return self._table(depth)
        if head == "[":
            return self._items(depth)
        if head == '"':
            return self._string()
        return self._word()

    def _table(self, depth: int) -> Table:
        table, start = Table(self._source()), self._at
        self._at += 1
        while self._more("}", bool(table.entries)):
            if self._peek() != '"':
                self._fail("a key must stand in double quotes")
            key = self._string()
            if key.text in table.entries:
                first = table.entries[key.text].key.source.line
                self._fail(f"{key.text[:60]!r} stands here and in line {first}; remove one")
            self._skip()
            if self._peek() != ":":
                self._fail("a colon is missing after the key")
            self._at += 1
            self._skip()
            table.entries[key.text] = Entry(key, self._value(depth + 1))
        table.span = (start, self._at)
        return table

    def _items(self, depth: int) -> Items:
        source, start = self._source(), self._at
        items: list[Node] = []
        self._at += 1
        while self._more("]", bool(items)):
            items.append(self._value(depth + 1))
        return Items(tuple(items), source, (start, self._at))

    def _more(self, end: str, between: bool) -> bool:
        """Step to the next element; False after the closing bracket."""
        self._skip()
        if self._peek() == end:
            self._at += 1
            return False
        if between:
            if self._peek() != ",":
                self._fail(f"a comma or {end} is missing")
            comma = self._at
            self._at += 1
            self._skip()
            if self._peek() == end:
                self._at = comma
                self._fail(f"a comma before {end}; remove it")
        return True

    def _string(self) -> Scalar:
        start = self._at
        try:
            text, self._at = _STRINGS.raw_decode(self._text, start)
        except JSONDecodeError as error:
            self._at = min(error.pos, len(self._text))
            self._fail("a text that does not end, or an odd character or escape in it")
        return Scalar(text, Style.QUOTED, self._source(start), (start, self._at))

    def _word(self) -> Scalar:
        start, found = self._at, _WORD.match(self._text, self._at)
        if found is None or not _WORD_END.match(self._text, found.end()):
            self._fail(self._guess())
        self._at = found.end()
        return Scalar(found.group(), Style.PLAIN, self._source(start), (start, self._at))

    def _guess(self) -> str:
        head = self._peek()
        if head in {"/", "#"}:
            return "JSON knows no comments; remove it"
        if head == "'":
            return "single quotes; JSON needs double ones"
        return "not a JSON value; texts stand in double quotes, numbers are plain decimal"

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _skip(self) -> None:
        space = _SPACE.match(self._text, self._at)
        self._at = space.end() if space else self._at

    def _source(self, at: int | None = None) -> Source:
        end = self._at if at is None else at
        return Source(self._file, bisect_left(self._breaks, end) + 1)

    def _fail(self, problem: str) -> NoReturn:
        raise UnreadableError(problem, self._source().line)
