"""Change single keys of config.yaml and honcho.json on disk, losing nothing else in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from gateway.model.errors import ConfigurationError
from gateway.settings import files, splice
from gateway.settings.dialects import dialect_of
from gateway.settings.document import Document, UneditableError
from gateway.settings.honcho import HOSTS, SPELLINGS, host_block
from gateway.settings.nodes import Items, Node, Style, Table
from gateway.settings.replace import ConcurrentChangeError, rewrite
from gateway.settings.splice import REMOVE, Remove

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from gateway.settings.dialects import Dialect, Value

__all__ = [
    "REMOVE",
    "Changes",
    "ConcurrentChangeError",
    "changed",
    "edit",
    "edit_honcho",
    "honcho_text",
]

Key = tuple[str, ...]
#: key of a file, from the outermost table on → what it is to hold
Changes: TypeAlias = "Mapping[tuple[str, ...], Value | Remove]"

#: bare words that are no text
_WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "null"})
_PIN = "pinUserPeer"
_OLD_PINS = tuple(old for old, new in SPELLINGS.items() if new == _PIN)


def edit(path: Path, expected_digest: str, changes: Changes) -> str:
    """Set or remove keys of a YAML or JSON file and return the file's new digest.

    ``expected_digest`` is that of the content the changes are based on (``Loaded.digests``),
    "" for a file that does not exist yet and is created. Comments, order, quoting and all other
    bytes stay. Raises ``ConcurrentChangeError`` if the content is another, else
    ``ConfigurationError`` naming the file; nothing is written then.
    """
    return rewrite(path, expected_digest, lambda text: changed(path, text, changes))


def edit_honcho(
    path: Path,
    expected_digest: str,
    changes: Changes,
    *,
    hosts: tuple[str, ...],
    own: bool = False,
) -> str:
    """Like ``edit``, with keys as they hold for one host; see ``honcho_text``."""
    return rewrite(
        path, expected_digest, lambda text: honcho_text(path, text, changes, hosts=hosts, own=own)
    )


def honcho_text(
    path: Path, text: str, changes: Changes, *, hosts: tuple[str, ...], own: bool = False
) -> str:
    """Return a text with keys as they hold for one host (see ``honcho.host_names``).

    A key is changed where it stands, the host block before the root; a new one goes into the
    host block, and so does every key with ``own``: the root speaks for other hosts too. A key
    that begins with ``hosts`` is a place in the file. Every ``pinPeerName`` of the file becomes
    ``pinUserPeer``.
    """
    text = _move_pins(path, text)
    root = _document(path, text).root
    placed = {_place(root, key, hosts, own=own): value for key, value in changes.items()}
    return changed(path, text, placed)


# --- text ------------------------------------------------------------------------------------


def _document(path: Path, text: str) -> Document:
    dialect = dialect_of(path)
    if not text.strip() and not dialect.blocks:
        text = "{}\n"
    try:
        return Document.of(text, dialect)
    except files.UnreadableError as error:
        raise ConfigurationError(f"{path}:{error.line}: {error.problem}") from None
    except UneditableError:
        raise ConfigurationError(f"{path}: the top level must hold key: value pairs") from None


def changed(path: Path, text: str, changes: Changes) -> str:
    """Return the text that ``edit`` would give the file. Raises ``ConfigurationError``."""
    document = _document(path, text)
    wanted = _plain(document.root)
    for key, value in changes.items():
        try:
            if isinstance(value, Remove):
                text = splice.remove(document, key)
            else:
                text = splice.set_value(document, key, value)
            document = Document.of(text, document.dialect)
        except (UneditableError, files.UnreadableError):
            raise _by_hand(path, key) from None
        _change_plain(wanted, key, value, document.dialect)
        if _plain(document.root) != wanted:
            raise _by_hand(path, key)
    return document.text


def _by_hand(path: Path, key: tuple[str, ...]) -> ConfigurationError:
    return ConfigurationError(
        f"{path}: {'.'.join(key)}: cannot be changed safely as it is written; change it by hand"
    )


def _plain(node: Node) -> Any:
    """Return a tree as comparable values, without places."""
    if isinstance(node, Table):
        return {name: _plain(entry.value) for name, entry in node.entries.items()}
    if isinstance(node, Items):
        return [_plain(item) for item in node.items]
    if node.absent:
        return {}
    return node.text, node.style is Style.PLAIN and _means_no_text(node.text)


def _means_no_text(word: str) -> bool:
    return word.lower() in _WORDS or not word[0].isalpha()


def _change_plain(
    tree: dict[str, Any], key: tuple[str, ...], value: Value | Remove, dialect: Dialect
) -> None:
    *folders, name = key
    for folder in folders:
        inner = tree.get(folder)
        if isinstance(value, Remove) and not isinstance(inner, dict):
            return
        tree[folder] = tree = inner if isinstance(inner, dict) else {}
    if isinstance(value, Remove):
        tree.pop(name, None)
    else:
        tree[name] = _plain(dialect.parse(dialect.inline(value)))


# --- honcho.json -----------------------------------------------------------------------------


def _move_pins(path: Path, text: str) -> str:
    """Write every old pin under its present name; where both stand the present one stays."""
    for level in _levels(_document(path, text).root):
        for old in _OLD_PINS:
            document = _document(path, text)
            table = document.root.get(*level) if level else document.root
            if not isinstance(table, Table) or old not in table.entries:
                continue
            if _PIN in table.entries:
                text = splice.remove(document, (*level, old))
            else:
                text = splice.rename(document, (*level, old), _PIN)
    return text


def _levels(root: Table) -> list[tuple[str, ...]]:
    hosts = root.get(HOSTS)
    names = hosts.entries if isinstance(hosts, Table) else ()
    return [(), *((HOSTS, name) for name in names)]


def _place(
    root: Table, key: tuple[str, ...], hosts: tuple[str, ...], *, own: bool
) -> tuple[str, ...]:
    """Return where a key of the effective settings stands in the file, or is to stand."""
    if key[0] == HOSTS:
        return _written(root, key[:2], key[2:]) or key
    block = host_block(root, hosts)
    home = (HOSTS, block[0] if block else hosts[0])
    at_root = None if own else _written(root, (), key)
    return _written(root, home, key) or at_root or (*home, *key)


def _written(root: Table, level: Key, key: Key) -> Key | None:
    """Return a key as one level of the file spells it, None where it is not there."""
    for name in (key[0], *(old for old, new in SPELLINGS.items() if new == key[0])):
        node = root.get(*level, name)
        if node is not None:
            return (*level, name, *_as_written(node, key[1:]))
    return None


def _as_written(node: Node, key: tuple[str, ...]) -> tuple[str, ...]:
    """A name inside a table may be written with white space around it."""
    if not key or not isinstance(node, Table):
        return key
    same = (name for name in node.entries if name.strip() == key[0])
    return (key[0] if key[0] in node.entries else next(same, key[0]), *key[1:])
