"""A settings file's text together with its tree, and questions about places in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway.settings.nodes import Entry, Items, Node, Scalar, Table

if TYPE_CHECKING:
    from gateway.settings.dialects import Dialect


class UneditableError(Exception):
    """The place of a change is written in a way that cannot be edited safely."""


@dataclass(frozen=True, slots=True)
class Document:
    """A text, its tree and its notation."""

    text: str
    root: Table
    dialect: Dialect

    @classmethod
    def of(cls, text: str, dialect: Dialect) -> Document:
        root = dialect.parse(text)
        if not isinstance(root, Table):
            raise UneditableError
        return cls(text, root, dialect)

    @property
    def newline(self) -> str:
        return "\r\n" if "\r\n" in self.text else "\n"

    @property
    def unit(self) -> str:
        """One step of indentation, as the file has it."""
        return self._first_indent(self.root) or "  "

    def _first_indent(self, table: Table) -> str:
        for entry in table.entries.values():
            indent = self.indent(entry.key.span[0])
            inner = self._first_indent(entry.value) if isinstance(entry.value, Table) else ""
            if indent or inner:
                return indent or inner
        return ""

    def indent(self, at: int) -> str:
        """Return the white space that begins the line of an offset."""
        line = self.text[self.line_start(at) : at]
        return line[: len(line) - len(line.lstrip())]

    def line_start(self, at: int) -> int:
        return self.text.rfind("\n", 0, at) + 1

    def line_end(self, at: int) -> int:
        """Return the offset after the end of a line."""
        found = self.text.find("\n", at)
        return len(self.text) if found < 0 else found + 1

    def starts_line(self, at: int) -> bool:
        return not self.text[self.line_start(at) : at].strip()

    def end(self, node: Node) -> int:
        """Return where a node's own text ends, without comments after it."""
        if isinstance(node, Scalar) or node.flow:
            start, end = node.span
            return start + len(self.text[start:end].rstrip())
        inner = node.items if isinstance(node, Items) else _values(node)
        return max((self.end(one) for one in inner), default=node.span[0])

    def after_colon(self, entry: Entry) -> int:
        return self.text.index(":", entry.key.span[1]) + 1

    def replace(self, start: int, end: int, new: str) -> str:
        return self.text[:start] + new + self.text[end:]


def _values(table: Table) -> tuple[Node, ...]:
    return tuple(entry.value for entry in table.entries.values())
