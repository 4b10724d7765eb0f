"""What a settings file holds, with the place of every piece, before anything is judged.

A scalar keeps the text that the operator typed: whether ``0700`` or ``1e3`` is a number, an id
or a fault depends on the key it stands under, so nothing is converted here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from pathlib import Path

#: deeper files are refused, so that no reader runs out of stack
MAX_DEPTH = 40

Span: TypeAlias = tuple[int, int]


class Style(StrEnum):
    """How a scalar was written."""

    #: without quotes
    PLAIN = "plain"
    #: in quotes, or as a block of text
    QUOTED = "quoted"
    #: in a variable, where everything is text
    VARIABLE = "variable"


@dataclass(frozen=True, slots=True)
class Source:
    """Where a value stands. ``file`` is None for a variable of the process's environment."""

    file: Path | None
    line: int = 0
    #: the variable that holds the value
    variable: str = ""


@dataclass(frozen=True, slots=True)
class Scalar:
    """One value that is not a list or mapping; ``span`` are its offsets, quotes included."""

    text: str
    style: Style
    source: Source
    span: Span = (0, 0)

    @property
    def null(self) -> bool:
        """Nothing, or a word that means nothing."""
        return self.style is Style.PLAIN and self.text in {"", "~", "null", "Null", "NULL"}

    @property
    def absent(self) -> bool:
        """A key with nothing at all behind it."""
        return self.style is Style.PLAIN and not self.text


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    items: tuple[Node, ...]
    source: Source
    span: Span = (0, 0)
    flow: bool = True


@dataclass(frozen=True, slots=True)
class Entry:
    """A key of a mapping and what is behind it."""

    key: Scalar
    value: Node


@dataclass(slots=True)
class Table:
    """A mapping in its order. Readers may add and move entries; ``span`` is of the file's own."""

    source: Source
    entries: dict[str, Entry] = field(default_factory=dict)
    span: Span = (0, 0)
    flow: bool = True

    def get(self, *path: str) -> Node | None:
        """Return what stands at ``path``, or None."""
        node: Node = self
        for name in path:
            if not isinstance(node, Table) or name not in node.entries:
                return None
            node = node.entries[name].value
        return node

    def put(self, value: Node, *path: str) -> bool:
        """Set ``path``, making the tables on the way; False if something else stands there."""
        name, *rest = path
        key = Scalar(name, Style.QUOTED, value.source)
        if not rest:
            self.entries[name] = Entry(key, value)
            return True
        entry = self.entries.get(name)
        if entry is None or (isinstance(entry.value, Scalar) and entry.value.absent):
            entry = self.entries[name] = Entry(key, Table(value.source))
        return isinstance(entry.value, Table) and entry.value.put(value, *rest)

    def take(self, *path: str) -> Entry | None:
        """Remove and return the entry at ``path``, or return None."""
        *folders, name = path
        table = self.get(*folders)
        return table.entries.pop(name, None) if isinstance(table, Table) else None


Node: TypeAlias = Scalar | Items | Table
