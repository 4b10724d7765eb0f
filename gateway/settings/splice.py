"""Change single keys inside the text of a settings file; every other byte stays as it is.

Each function takes the text and returns a new one. They know the places of the old tree only:
parse again between two changes. ``rewrite`` proves the result before it is kept.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from gateway.settings.nodes import Entry, Items, Node, Scalar, Style, Table

if TYPE_CHECKING:
    from gateway.settings.dialects import Dialect, Value

Path = tuple[str, ...]


class Remove(enum.Enum):
    """Stands for a key that is to go."""

    TOKEN = 0


REMOVE: Final = Remove.TOKEN


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


def set_value(document: Document, path: Path, value: Value) -> str:
    """Give ``path`` a value, making the tables on the way."""
    table = document.root
    for depth, name in enumerate(path):
        rest = path[depth + 1 :]
        entry = table.entries.get(name)
        if entry is None:
            return _insert(document, table, path[: depth + 1], _wrap(rest, value))
        if not rest:
            return _replace(document, entry, value)
        if not isinstance(entry.value, Table):
            if isinstance(entry.value, Scalar) and entry.value.null:
                return _replace(document, entry, _wrap(rest, value))
            raise UneditableError
        table = entry.value
    raise UneditableError


def remove(document: Document, path: Path) -> str:
    """Take ``path`` away; nothing happens where it is not."""
    *folders, name = path
    table = document.root.get(*folders)
    if not isinstance(table, Table) or name not in table.entries:
        return document.text
    if len(table.entries) == 1:
        return _empty(document, table, tuple(folders))
    if not table.flow:
        entry = table.entries[name]
        if not document.starts_line(entry.key.span[0]):
            raise UneditableError
        start = document.line_start(entry.key.span[0])
        return document.replace(start, document.line_end(document.end(entry.value)), "")
    return _remove_from_flow(document, table, name)


def rename(document: Document, path: Path, name: str) -> str:
    """Give the entry at ``path`` another key; its value and place stay."""
    *folders, old = path
    table = document.root.get(*folders)
    if not isinstance(table, Table):
        raise UneditableError
    return document.replace(*table.entries[old].key.span, document.dialect.key(name))


def _wrap(path: Path, value: Value) -> Value:
    for name in reversed(path):
        value = {name: value}
    return value


def _replace(document: Document, entry: Entry, value: Value) -> str:
    node = entry.value
    if isinstance(node, Items) and not node.flow and isinstance(value, (list, tuple)):
        edited = _edit_items(document, node, value)
        if edited is not None:
            return edited
    if isinstance(node, (Items, Table)) and not node.flow:
        start = document.after_colon(entry)
        return document.replace(start, document.end(node), f" {document.dialect.inline(value)}")
    start, end = node.span
    text = document.dialect.inline(value)
    if isinstance(node, Scalar) and node.absent and start == end:
        start = end = document.after_colon(entry)
        text = f" {text}"
    elif isinstance(node, Scalar):
        text = _quoted_as_before(document, node, value, text)
    return document.replace(start, max(start, document.end(node)), text)


def _quoted_as_before(document: Document, node: Scalar, value: Value, text: str) -> str:
    """A text that stood in quotes keeps the same quotes."""
    if node.style is not Style.QUOTED or not isinstance(value, str):
        return text
    quote = document.text[node.span[0]]
    if quote == "'" and value.isprintable() and quote not in value:
        return f"'{value}'"
    return f'"{text}"' if quote == '"' and not text.startswith(quote) else text


def _edit_items(
    document: Document, node: Items, new: list[Value] | tuple[Value, ...]
) -> str | None:
    """Take single lines out of a list and add some at its end, so that comments stay."""
    texts = [item.text if isinstance(item, Scalar) else None for item in node.items]
    kept = [value for value in new if value in texts]
    added = [value for value in new if value not in texts]
    lines_of_own = all(
        document.text[document.line_start(item.span[0]) : item.span[0]].strip() == "-"
        for item in node.items
    )
    if not kept or [*kept, *added] != list(new) or None in texts or not lines_of_own:
        return None
    if kept != [text for text in texts if text in new]:
        return None
    last = node.items[-1]
    at = document.line_end(document.end(last))
    lead = document.text[document.line_start(last.span[0]) : last.span[0]]
    lines = "".join(f"{lead}{document.dialect.inline(value)}{document.newline}" for value in added)
    if lines and at == len(document.text) and not document.text.endswith("\n"):
        lines = document.newline + lines
    text = document.replace(at, at, lines)
    for item in reversed(node.items):
        if isinstance(item, Scalar) and item.text not in new:
            start, end = document.line_start(item.span[0]), document.line_end(document.end(item))
            text = text[:start] + text[end:]
    return text


def _insert(document: Document, table: Table, path: Path, value: Value) -> str:
    name = path[-1]
    if table.flow:
        return _insert_in_flow(document, table, name, value)
    entries = tuple(table.entries.values())
    indent = document.indent(entries[0].key.span[0]) if entries else ""
    lines = _block(document, name, value, indent)
    at = document.line_end(document.end(entries[-1].value)) if entries else len(document.text)
    whole = at == 0 or document.text[at - 1] == "\n"
    return document.replace(at, at, lines if whole else document.newline + lines)


def _block(document: Document, name: str, value: Value, indent: str) -> str:
    """Return an entry on lines of its own; tables below tables are indented."""
    key = f"{indent}{document.dialect.key(name)}:"
    if not isinstance(value, dict) or not value:
        return f"{key} {document.dialect.inline(value)}{document.newline}"
    inner = (_block(document, sub, below, indent + document.unit) for sub, below in value.items())
    return key + document.newline + "".join(inner)


def _insert_in_flow(document: Document, table: Table, name: str, value: Value) -> str:
    start, end = table.span
    own_line = not document.dialect.blocks and (
        not table.entries or "\n" in document.text[start : _first(table).key.span[0]]
    )
    if not own_line:
        entry = f"{document.dialect.key(name)}: {document.dialect.inline(value)}"
        if not table.entries:
            return document.replace(start, end, "{" + entry + "}")
        at = document.end(_last(table).value)
        return document.replace(at, at, f", {entry}")
    outer = document.indent(start)
    inner = outer + document.unit
    if table.entries:
        inner = document.indent(_first(table).key.span[0])
    entry = _lines(document, name, value, inner)
    if not table.entries:
        line = document.newline
        return document.replace(start, end, f"{{{line}{inner}{entry}{line}{outer}}}")
    at = document.end(_last(table).value)
    return document.replace(at, at, f",{document.newline}{inner}{entry}")


def _lines(document: Document, name: str, value: Value, indent: str) -> str:
    """Return an entry of a bracketed table, tables in it on lines of their own."""
    key = f"{document.dialect.key(name)}: "
    if not isinstance(value, dict) or not value:
        return key + document.dialect.inline(value)
    deeper = indent + document.unit
    line = document.newline
    inner = f",{line}".join(
        deeper + _lines(document, sub, below, deeper) for sub, below in value.items()
    )
    return f"{key}{{{line}{inner}{line}{indent}}}"


def _first(table: Table) -> Entry:
    return next(iter(table.entries.values()))


def _last(table: Table) -> Entry:
    return next(reversed(table.entries.values()))


def _empty(document: Document, table: Table, path: Path) -> str:
    """Take away the only entry of a table."""
    if table.flow:
        return document.replace(*table.span, "{}")
    if path:
        parent = document.root.get(*path[:-1])
        if not isinstance(parent, Table):
            raise UneditableError
        return _replace(document, parent.entries[path[-1]], {})
    start = document.line_start(_first(table).key.span[0])
    return document.replace(start, document.line_end(document.end(_first(table).value)), "")


def _remove_from_flow(document: Document, table: Table, name: str) -> str:
    names = list(table.entries)
    place = names.index(name)
    entry = table.entries[name]
    if place + 1 < len(names):
        following = table.entries[names[place + 1]].key.span[0]
        return document.replace(entry.key.span[0], following, "")
    before = document.end(table.entries[names[place - 1]].value)
    return document.replace(before, document.end(entry.value), "")
