"""Blocks of a parsed document, written as lines that read well without any markup."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import regex

from gateway.model.outbound import RichText, SpanKind
from gateway.text import dialect, inline, tables
from gateway.text.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from markdown_it.token import Token

_RULE = "──────────"
_BULLETS = ("• ", "◦ ", "▪ ")

#: the whole info string of a fence, where it names a language and perhaps attributes
_LANGUAGE = regex.compile(r"(?|\{\s*\.([\w+#-]+).*\}|([\w+#.-]+)(?:[\s,:]*\{.*|\s+\S*=.*)?)")


@dataclass(slots=True)
class _List:
    """A list that is being written."""

    gap: int
    bullet: str
    prefix: str


class Blocks:
    """Walks the tokens of one document; each handler takes the token's index."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._writer = Writer()
        self._tokens = tokens
        self._loose = _loose_lists(tokens)
        self._lists: list[_List] = []
        #: prefixes to return to after quotes
        self._quotes: list[str] = []
        self._rows: list[list[str]] = []
        self._aligns: list[str] = []
        self._handlers: dict[str, Callable[[int], None]] = {
            "paragraph_open": self._paragraph,
            "paragraph_close": self._end_block,
            "heading_open": self._heading,
            "heading_close": self._end_heading,
            "inline": self._inline,
            "fence": self._fence,
            "code_block": self._code,
            "hr": self._hr,
            "blockquote_open": self._quote,
            "blockquote_close": self._end_quote,
            "bullet_list_open": self._list,
            "ordered_list_open": self._list,
            "list_item_open": self._item,
            "list_item_close": self._end_item,
            "bullet_list_close": self._end_list,
            "ordered_list_close": self._end_list,
            "th_open": self._column,
            "tr_open": self._row,
            "table_close": self._table,
        }

    def rich(self) -> RichText:
        """Write the document; may be called once."""
        for index, token in enumerate(self._tokens):
            handler = self._handlers.get(token.type)
            if handler is not None:
                handler(index)
        return self._writer.rich()

    def _end_block(self, _index: int = 0) -> None:
        self._writer.end(self._lists[-1].gap if self._lists else 2)

    def _paragraph(self, _index: int) -> None:
        self._writer.begin()

    def _heading(self, index: int) -> None:
        self._writer.begin()
        self._writer.open(SpanKind.HEADING, self._tokens[index].tag.removeprefix("h"))

    def _end_heading(self, _index: int) -> None:
        self._writer.close()
        self._writer.end(1)

    def _inline(self, index: int) -> None:
        children = self._tokens[index].children or []
        if self._tokens[index - 1].type in ("th_open", "td_open"):
            self._rows[-1].append(inline.cell(children))
        else:
            inline.write(self._writer, children)

    def _fence(self, index: int) -> None:
        token = self._tokens[index]
        info = token.info.strip()
        language = _LANGUAGE.fullmatch(info)
        lines = token.map[1] - token.map[0] if token.map else 0
        if language is not None and lines > 1:
            self._pre(token.content, language.group(1))
        else:
            self._pre(f"{info}\n{token.content}" if info else token.content)

    def _code(self, index: int) -> None:
        self._pre(self._tokens[index].content)

    def _pre(self, content: str, language: str = "") -> None:
        if not content.strip():
            return
        self._writer.begin_outdented()
        self._writer.open(SpanKind.PRE, language)
        self._writer.write(content.removesuffix("\n"))
        self._writer.close()
        self._end_block()

    def _hr(self, index: int) -> None:
        self._writer.begin()
        self._writer.write(_RULE)
        self._end_block(index)

    def _quote(self, _index: int) -> None:
        self._quotes.append(self._writer.prefix)
        if len(self._quotes) > 1:
            self._writer.prefix += "> "
            return
        self._writer.begin_outdented()
        self._writer.prefix = ""
        self._writer.open(SpanKind.QUOTE)

    def _end_quote(self, index: int) -> None:
        self._writer.prefix = self._quotes.pop()
        if not self._quotes:
            self._writer.close()
        self._end_block(index)

    def _list(self, index: int) -> None:
        depth = min(len(self._lists), len(_BULLETS) - 1)
        gap = 2 if index in self._loose else 1
        self._lists.append(_List(gap, _BULLETS[depth], self._writer.prefix))

    def _item(self, index: int) -> None:
        marker = self._marker(self._tokens[index])
        self._writer.begin(marker)
        self._writer.prefix += " " * len(marker)

    def _marker(self, item: Token) -> str:
        number = f"{item.info}{item.markup} " if item.info else ""
        box = item.meta.get(dialect.TASK)
        if box:
            return f"{number}{box} "
        return number or self._lists[-1].bullet

    def _end_item(self, index: int) -> None:
        self._writer.prefix = self._lists[-1].prefix
        self._end_block(index)

    def _end_list(self, index: int) -> None:
        self._lists.pop()
        self._end_block(index)

    def _row(self, _index: int) -> None:
        self._rows.append([])

    def _column(self, index: int) -> None:
        style = str(self._tokens[index].attrs.get("style", ""))
        self._aligns.append(style.removeprefix("text-align:"))

    def _table(self, _index: int) -> None:
        self._pre(tables.layout(self._rows, self._aligns))
        self._rows, self._aligns = [], []


def _loose_lists(tokens: Sequence[Token]) -> set[int]:
    """Return the indexes of lists whose items are paragraphs, set apart by blank lines."""
    loose: set[int] = set()
    lists: list[int] = []
    for index, token in enumerate(tokens):
        if token.type in ("bullet_list_open", "ordered_list_open"):
            lists.append(index)
        elif token.type in ("bullet_list_close", "ordered_list_close"):
            lists.pop()
        elif token.type == "paragraph_open" and lists and not token.hidden:
            own = token.level == tokens[lists[-1]].level + 2
            loose.update(lists[-1:] if own else ())
    return loose
