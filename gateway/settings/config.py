"""From config.yaml's tree to ``Settings``, with the sections of the known platforms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.settings.convert import Converter
from gateway.settings.findings import shown
from gateway.settings.nodes import Items, Node, Scalar, Source, Style, Table
from gateway.settings.schema import PLATFORMS, Settings

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from pydantic import BaseModel

    from gateway.settings.findings import Findings

CONSOLE = "console"
#: keys of ``access`` that hold something for each platform
_BY_PLATFORM = ("allow", "places", "open_places", "allow_all", "roles")
_WITH_ROLES = ("discord",)


def known_platforms(models: Mapping[str, type[BaseModel]]) -> tuple[str, ...]:
    """Return the platforms whose users have ids."""
    return tuple(name for name in dict.fromkeys((*PLATFORMS, *models)) if name != CONSOLE)


def build_settings(
    root: Table, models: Mapping[str, type[BaseModel]], findings: Findings
) -> Settings | None:
    """Return the settings, or None if a fault was recorded. ``root`` is used up."""
    platforms = known_platforms(models)
    _complete_access(root, platforms, findings)
    converter = Converter(findings, (*platforms, CONSOLE))
    entry = root.take("platforms")
    sections = _sections(entry.value if entry else Table(root.source), models, converter)
    settings = converter.fill(Settings, root)
    if settings is None or len(sections) < len(models):
        return None
    return settings.model_copy(update={"platforms": sections})


def _complete_access(root: Table, platforms: Collection[str], findings: Findings) -> None:
    """Name each platform in the access lists, and take out what is none."""
    if _nothing(root.get("access")):
        root.put(Table(root.source), "access")
    for key in _BY_PLATFORM:
        table = root.get("access", key)
        if isinstance(table, Table):
            for name in [name for name in table.entries if name not in platforms]:
                findings.unknown(table.entries.pop(name).key, ("access", key), platforms)
        elif table is not None:
            continue
        for name in _WITH_ROLES if key == "roles" else platforms:
            if root.get("access", key, name) is None:
                root.put(_default(key, root.source), "access", key, name)


def _nothing(node: Node | None) -> bool:
    return node is None or (isinstance(node, Scalar) and node.absent)


def _default(key: str, source: Source) -> Node:
    if key == "allow_all":
        return Scalar("false", Style.PLAIN, source)
    return Items((), source)


def _sections(
    node: Node, models: Mapping[str, type[BaseModel]], converter: Converter
) -> dict[str, BaseModel]:
    """Return the platforms' sections; one with a fault is left out."""
    findings = converter.findings
    if _nothing(node):
        node = Table(node.source)
    if not isinstance(node, Table):
        findings.fault(node.source, ("platforms",), f"{shown(node)} is not a section")
        return {}
    for name, entry in node.entries.items():
        if name in PLATFORMS and name not in models:
            findings.not_used(entry.key.source, ("platforms", name))
        elif name not in models:
            findings.unknown(entry.key, ("platforms",), models)
    found = {}
    for name, model in models.items():
        section = _section(
            node.get(name) or Table(node.source), model, ("platforms", name), converter
        )
        if section is not None:
            found[name] = section
    return found


def _section(
    node: Node, model: type[BaseModel], path: tuple[str, ...], converter: Converter
) -> BaseModel | None:
    if _nothing(node):
        node = Table(node.source)
    if not isinstance(node, Table):
        problem = f"{shown(node)} is not a section; write its keys below it"
        converter.findings.fault(node.source, path, problem)
        return None
    return converter.fill(model, node, path)
