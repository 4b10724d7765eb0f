"""Read YAML as placed nodes with the raw text of every scalar.

Works on the parser's events, before YAML's own ideas of numbers, dates and booleans apply.
Anchors, tags, merge keys and further documents are refused: a settings file needs none.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)
from ruamel.yaml.reader import ReaderError

from gateway.settings.files import UnreadableError
from gateway.settings.nodes import (
    MAX_DEPTH,
    Entry,
    Items,
    Node,
    Scalar,
    Source,
    Style,
    Table,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def parse_yaml(text: str, file: Path) -> Node | None:
    """Return the document, or None if it holds nothing.

    Raises ``UnreadableError`` with the line for whatever is not plain YAML.
    """
    return _Composer(text, file).document(_events(text))


def _events(text: str) -> Iterator[Any]:
    try:
        yield from YAML(typ="safe", pure=True).parse(text)
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise UnreadableError("a control character; remove it", line) from None
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 0
        raise UnreadableError(_explain(error.problem or error.context or ""), line) from None
    except (YAMLError, ValueError, OverflowError) as error:
        raise UnreadableError(f"not YAML ({type(error).__name__}); mend the file") from None


def _explain(problem: str) -> str:
    if "'\\t'" in problem or "tab" in problem:
        return "a tab; indent with spaces"
    return f"not YAML ({problem}); check indentation, colons and quotes"


class _Composer:
    """Builds nodes from events; each open list or mapping is one level of recursion."""

    def __init__(self, text: str, file: Path) -> None:
        self._text = text
        self._file = file

    def document(self, events: Iterator[Any]) -> Node | None:
        root: Node | None = None
        started = False
        for event in events:
            if isinstance(event, DocumentStartEvent):
                if started:
                    raise UnreadableError("a second document; keep one", self._line(event))
                started = True
            elif isinstance(event, (ScalarEvent, SequenceStartEvent, MappingStartEvent)):
                root = self._node(event, events, 0)
            elif isinstance(event, AliasEvent):
                self._refuse_alias(event)
        if isinstance(root, Scalar) and root.absent:
            return None
        return root

    def _node(self, event: Any, events: Iterator[Any], depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise UnreadableError("nested too deeply", self._line(event))
        if isinstance(event, AliasEvent):
            self._refuse_alias(event)
        if event.anchor is not None or event.tag is not None:
            raise UnreadableError(
                "an anchor (&) or tag (!); write the value itself", self._line(event)
            )
        if isinstance(event, ScalarEvent):
            return self._scalar(event)
        if isinstance(event, SequenceStartEvent):
            return self._items(event, events, depth)
        return self._table(event, events, depth)

    def _scalar(self, event: Any) -> Scalar:
        plain = event.style in (None, "")
        return Scalar(
            text=event.value,
            style=Style.PLAIN if plain else Style.QUOTED,
            source=self._source(event),
            span=(event.start_mark.index, event.end_mark.index),
        )

    def _items(self, start: Any, events: Iterator[Any], depth: int) -> Items:
        items: list[Node] = []
        for event in events:
            if isinstance(event, SequenceEndEvent):
                return Items(
                    items=tuple(items),
                    source=self._source(start),
                    span=(start.start_mark.index, event.end_mark.index),
                    flow=bool(start.flow_style),
                )
            items.append(self._node(event, events, depth + 1))
        raise UnreadableError("a list without end", self._line(start))

    def _table(self, start: Any, events: Iterator[Any], depth: int) -> Table:
        table = Table(self._source(start), flow=bool(start.flow_style))
        for event in events:
            if isinstance(event, MappingEndEvent):
                table.span = (start.start_mark.index, event.end_mark.index)
                return table
            key = self._node(event, events, depth + 1)
            self._check_key(key, table)
            value = self._node(next(events), events, depth + 1)
            if isinstance(key, Scalar):
                table.entries[key.text] = Entry(key, self._at_key(key, value))
        raise UnreadableError("a mapping without end", self._line(start))

    def _at_key(self, key: Scalar, value: Node) -> Node:
        """The parser finds an absent value at the next token; it belongs behind its key."""
        if not isinstance(value, Scalar) or not value.absent:
            return value
        colon = self._text.find(":", key.span[1])
        at = colon + 1 if colon >= 0 else key.span[1]
        return replace(value, source=key.source, span=(at, at))

    def _check_key(self, key: Node, table: Table) -> None:
        line = key.source.line
        if not isinstance(key, Scalar):
            raise UnreadableError("a key that is a list or mapping; write a name", line)
        if key.text == "<<" and key.style is Style.PLAIN:
            raise UnreadableError("a merge key (<<); write the values themselves", line)
        if key.text in table.entries:
            first = table.entries[key.text].key.source.line
            raise UnreadableError(
                f"{key.text[:60]!r} stands here and in line {first}; remove one", line
            )

    def _refuse_alias(self, event: Any) -> None:
        raise UnreadableError("an alias (*); write the value itself", self._line(event))

    def _source(self, event: Any) -> Source:
        return Source(self._file, self._line(event))

    @staticmethod
    def _line(event: Any) -> int:
        return int(event.start_mark.line) + 1
