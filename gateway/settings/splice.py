"""Change single keys inside the text of a settings file; every other byte stays as it is.

Each function takes the text and returns a new one. They know the places of the old tree only:
parse again between two changes. ``rewrite`` proves the result before it is kept.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Final

from gateway.settings.document import Document, UneditableError
from gateway.settings.nodes import Entry, Items, Scalar, Style, Table

if TYPE_CHECKING:
    from gateway.settings.dialects import Value

Path = tuple[str, ...]


class Remove(enum.Enum):
    """Stands for a key that is to go."""

    TOKEN = 0


REMOVE: Final = Remove.TOKEN


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
            return _begin_table(document, table, entry, _wrap(rest, value))
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


def _begin_table(document: Document, parent: Table, entry: Entry, value: Value) -> str:
    """Put the first entries below a key that had nothing behind it."""
    node = entry.value
    if not isinstance(node, Scalar) or not node.null:
        raise UneditableError
    if parent.flow or not node.absent or not isinstance(value, dict):
        return _replace(document, entry, value)
    indent = document.indent(entry.key.span[0]) + document.unit
    lines = "".join(_block(document, name, below, indent) for name, below in value.items())
    return _insert_lines(document, document.line_end(node.span[1]), lines)


def _insert_lines(document: Document, at: int, lines: str) -> str:
    whole = at == 0 or document.text[at - 1] == "\n"
    return document.replace(at, at, lines if whole else document.newline + lines)


def _replace(document: Document, entry: Entry, value: Value) -> str:
    node = entry.value
    if isinstance(node, Items) and not node.flow and isinstance(value, (list, tuple)):
        edited = _edit_items(document, node, value)
        if edited is not None:
            return edited
    if isinstance(node, (Items, Table)) and not node.flow:
        start = document.after_colon(entry)
        return document.replace(start, document.end(node), f" {document.dialect.inline(value)}")
    text = document.dialect.inline(value)
    if isinstance(node, Scalar) and node.absent:
        text = f" {text}"
    elif isinstance(node, Scalar):
        text = _quoted_as_before(document, node, value, text)
    return document.replace(node.span[0], document.end(node), text)


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
    text = _insert_lines(document, at, lines) if lines else document.text
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
    return _insert_lines(document, at, lines)


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
