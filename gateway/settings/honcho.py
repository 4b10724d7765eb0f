"""From honcho.json's tree to the memory settings that hold for one host."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gateway.settings.aliases import Aliases, read_aliases
from gateway.settings.convert import Converter
from gateway.settings.environment import HONCHO, Variables
from gateway.settings.findings import shown
from gateway.settings.honcho_keys import ADDRESS, KEY, Level, canonical, keep_with_server
from gateway.settings.honcho_schema import HonchoSettings
from gateway.settings.nodes import Entry, Node, Scalar, Source, Style, Table

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from gateway.settings.findings import Findings

#: keys of the file, in their present spelling
KEYS = {
    info.alias: name
    for name, info in HonchoSettings.model_fields.items()
    if info.alias and name != "host"
}
#: older spelling → present one
SPELLINGS = {name: alias for alias, name in KEYS.items() if name != alias} | {
    "pinPeerName": "pinUserPeer",
    "pin_peer_name": "pinUserPeer",
    "requestTimeout": "timeout",
    "request_timeout": "timeout",
    "workspaceId": "workspace",
    "workspace_id": "workspace",
}
_NOT_USED = frozenset({"injectionFrequency", "queryRewrite", "linkedHosts", "oauth"})
HOSTS = "hosts"
#: table of a host block: the address and key of the service that is not in use, so that a switch
#: between two services loses neither. Only set-up reads it.
KEPT = "kept"
_ALIASES = "userPeerAliases"


def host_names(profile: str, override: str = "") -> tuple[str, ...]:
    """Return the names of a profile's block in ``hosts``, the present one first."""
    if override:
        return (override,)
    return ("hermes",) if profile == "default" else (f"hermes_{profile}", f"hermes.{profile}")


def host_block(root: Table, names: tuple[str, ...]) -> tuple[str, Node] | None:
    """Return the name and content of the first block there is."""
    for name in names:
        node = root.get(HOSTS, name)
        if node is not None:
            return name, node
    return None


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory settings of one host; ``settings`` is None when a fault was recorded."""

    settings: HonchoSettings | None
    aliases: Aliases
    #: the place of each key that was given, by its present spelling
    keys: Mapping[str, Source]
    #: the file itself holds a key or an address
    configured: bool


def read_memory(
    root: Table,
    hosts: tuple[str, ...],
    variables: Variables,
    platforms: Collection[str],
    *,
    findings: Findings,
) -> Memory:
    """Lay the host block over the root and the root over the environment, and judge the result.

    ``hosts`` are the names under which the host's block may stand, the present one first.
    """
    levels = [*_levels(root, hosts, findings), _environment(variables)]
    keep_with_server(levels, findings)
    table, spelled = Table(root.source), dict[str, tuple[str, ...]]()
    for level in levels:
        for key, entry in level.keys.items():
            if key not in table.entries:
                table.entries[key] = entry
                spelled[key] = (*level.path, entry.key.text)
    configured = any(level.in_file and level.keys.keys() & {KEY, ADDRESS} for level in levels)
    keys = {key: entry.key.source for key, entry in table.entries.items()}
    aliases = read_aliases(
        table.get(_ALIASES), spelled.get(_ALIASES, ()), platforms, findings=findings
    )
    table.take(_ALIASES)
    settings = Converter(findings, platforms, spelled).fill(HonchoSettings, table)
    if settings is not None:
        settings = _complete(settings, hosts[0], keys, aliases)
    return Memory(settings, aliases, keys, configured)


def _complete(
    settings: HonchoSettings, host: str, keys: Mapping[str, Source], aliases: Aliases
) -> HonchoSettings:
    """Fill what depends on the host, and bring the address to its canonical form."""
    update: dict[str, object] = {"host": host, "user_peer_aliases": aliases.targets}
    update |= {KEYS[key]: host for key in ("workspace", "aiPeer") if key not in keys}
    if settings.base_url is not None:
        update["base_url"] = canonical(settings.base_url)
    return settings.model_copy(update=update)


def _levels(root: Table, hosts: tuple[str, ...], findings: Findings) -> list[Level]:
    """Return the levels in the order in which they win."""
    levels = [Level((), _present(root, (), findings))]
    block = host_block(root, hosts)
    if block is None:
        return levels
    path = (HOSTS, block[0])
    if isinstance(block[1], Table):
        levels.insert(0, Level(path, _present(block[1], path, findings)))
    else:
        problem = f"{shown(block[1])} is not a section; write its keys in {{}}"
        findings.fault(block[1].source, path, problem)
    return levels


def _present(level: Table, path: tuple[str, ...], findings: Findings) -> dict[str, Entry]:
    """Return one level's entries by present spelling; say what is unknown or said twice."""
    keys: dict[str, Entry] = {}
    for name in sorted(level.entries, key=lambda name: name in SPELLINGS):
        entry = level.entries[name]
        present = SPELLINGS.get(name, name)
        if name in _NOT_USED:
            findings.not_used(entry.key.source, (*path, name))
        elif present in keys:
            line = keys[present].key.source.line
            problem = f"has no effect: {keys[present].key.text} stands in line {line}"
            findings.warn(entry.key.source, (*path, name), problem)
        elif present in KEYS:
            keys[present] = entry
        elif name != (KEPT if path else HOSTS):
            findings.unknown(entry.key, path, KEYS)
    return keys


def _environment(variables: Variables) -> Level:
    """Return what the environment says, as a level below those of the file."""
    keys: dict[str, Entry] = {}
    for variable, key in HONCHO.items():
        if (scalar := variables.get(variable)) is not None:
            name = Scalar(key, Style.QUOTED, scalar.source)
            keys[key] = Entry(name, replace(scalar, text=scalar.text.strip()))
    return Level((), keys, in_file=False)
