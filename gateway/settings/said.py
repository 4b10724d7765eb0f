"""What honcho.json itself says for one host, as plain values: no defaults, no environment."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gateway.model.errors import ConfigurationError
from gateway.policy.carry import Said
from gateway.settings import files
from gateway.settings.honcho import KEYS, SPELLINGS, host_block
from gateway.settings.json_nodes import parse_json
from gateway.settings.nodes import Items, Node, Scalar, Style, Table

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from gateway.settings.honcho_schema import HonchoSettings


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
    return Said(
        own=_keys(own) if isinstance(own, Table) else {},
        general=_keys(root),
        block=block[0] if block else "",
    )


def settled(said: Said, settings: HonchoSettings) -> Said:
    """Return it with single values as they are understood: trimmed, in range, in one spelling."""
    values = settings.model_dump(mode="json", by_alias=True, exclude={"api_key"})

    def understood(level: Mapping[str, Any]) -> dict[str, Any]:
        return {
            key: values[key] if key in values and not isinstance(value, dict | list) else value
            for key, value in level.items()
        }

    # the root's own value is not understood where the block says something else
    beneath = {key: value for key, value in said.general.items() if key not in said.own}
    hidden = {key: value for key, value in said.general.items() if key in said.own}
    return replace(
        said,
        own=understood(said.own),
        general={**hidden, **understood(beneath)},
    )


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
