"""What honcho.json itself says for one host, as plain values: no defaults, no environment."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from gateway.model.errors import ConfigurationError
from gateway.policy.carry import Said
from gateway.settings import files
from gateway.settings.honcho import KEYS, SPELLINGS, host_block
from gateway.settings.json_nodes import parse_json
from gateway.settings.nodes import Items, Node, Scalar, Style, Table

if TYPE_CHECKING:
    from pathlib import Path


def read_said(path: Path, hosts: tuple[str, ...]) -> Said:
    """Return what a file says. Raises ``ConfigurationError`` for one that cannot be read."""
    try:
        content = files.load(path)
        root = parse_json(content.text, path) if content else None
    except files.UnreadableError as error:
        raise ConfigurationError(f"{path}:{error.line}: {error.problem}") from None
    if not isinstance(root, Table):
        return Said({}, {})
    block = host_block(root, hosts)
    own = block[1] if block else None
    return Said(_keys(own) if isinstance(own, Table) else {}, _keys(root))


def _keys(table: Table) -> dict[str, Any]:
    """Return a level's known keys by present spelling, which goes before an older one."""
    found: dict[str, Any] = {}
    for name in sorted(table.entries, key=lambda name: name in SPELLINGS):
        present = SPELLINGS.get(name, name)
        if present in KEYS and present not in found:
            found[present] = plain(table.entries[name].value)
    return found


def plain(node: Node) -> Any:
    """Return a node as JSON has it."""
    if isinstance(node, Table):
        return {name: plain(entry.value) for name, entry in node.entries.items()}
    if isinstance(node, Items):
        return [plain(item) for item in node.items]
    return json.loads(node.text) if _bare(node) else node.text


def _bare(node: Scalar) -> bool:
    return node.style is Style.PLAIN
