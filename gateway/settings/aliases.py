"""The alias map: which account is which person, with the line of every entry."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gateway.settings import accounts, scalars
from gateway.settings.findings import nearest, shown, shown_text
from gateway.settings.nodes import Entry, Node, Scalar, Source, Table
from gateway.settings.scalars import RefusedError

if TYPE_CHECKING:
    from collections.abc import Collection

    from gateway.settings.findings import Findings

Path = tuple[str, ...]


@dataclass(slots=True)
class Aliases:
    """Clean keys and targets, and where each stands."""

    targets: dict[str, str] = field(default_factory=dict)
    sources: dict[str, Source] = field(default_factory=dict)


def read_aliases(
    node: Node | None, path: Path, platforms: Collection[str], *, findings: Findings
) -> Aliases:
    """Return the map, trimmed and normalised; every entry that cannot be meant is a fault."""
    found = Aliases()
    if node is None:
        return found
    if not isinstance(node, Table):
        problem = f'{shown(node)} is not a mapping; write {{"<account id>": "<person>"}}'
        findings.fault(node.source, path, problem)
        return found
    for entry in node.entries.values():
        _add(found, entry, path, platforms, findings=findings)
    return found


def _add(
    found: Aliases, entry: Entry, path: Path, platforms: Collection[str], *, findings: Findings
) -> None:
    source, where = entry.key.source, (*path, shown_text(entry.key.text))
    try:
        key = accounts.bare_or_qualified(entry.key, platforms)
    except RefusedError as refused:
        findings.fault(source, path, f"{shown_text(entry.key.text)} {refused.problem}")
        return
    try:
        target = _target(entry.value)
    except RefusedError as refused:
        findings.fault(entry.value.source, where, f"{shown(entry.value)} {refused.problem}")
        return
    first = found.sources.get(key)
    if first is not None:
        problem = f"the same account as in line {first.line}"
        same = found.targets[key] == target
        if same:
            findings.warn(source, where, f"{problem}; remove one")
        else:
            other = shown_text(found.targets[key])
            findings.fault(source, where, f"{problem}, there {other}, here {target}; keep one")
        return
    _warn_of_nobody(key, source, where, platforms, findings=findings)
    found.targets[key], found.sources[key] = target, source


def _target(node: Node) -> str:
    if not isinstance(node, Scalar):
        raise RefusedError("a name")
    target = scalars.name(node)
    if not target:
        raise RefusedError("a name", "write the person's name or remove the entry")
    return target


def _warn_of_nobody(
    key: str, source: Source, where: Path, platforms: Collection[str], *, findings: Findings
) -> None:
    """Warn of a key that no account can ever match."""
    prefix, colon, _ = key.partition(":")
    close = nearest(prefix, platforms) if colon and prefix not in platforms else None
    if close:
        findings.warn(source, where, f"no platform is called {prefix}; did you mean {close}?")
    elif prefix not in platforms and not accounts.may_be_somebody(key):
        problem = "no account has such an id, so it means nobody; names are no ids"
        findings.warn(source, where, problem)
