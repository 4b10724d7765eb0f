"""Imports point one way: down the rows, never to a neighbour, never in a circle."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from tests.architecture.sources import Import, imports

if TYPE_CHECKING:
    from tests.architecture.sources import Module

#: lowest row first; ``adapters.*`` stands for each adapter, which are neighbours of one another
LAYERS = (
    ("gateway.model",),
    ("gateway.policy", "gateway.text"),
    ("gateway.ports",),
    ("gateway.settings", "gateway.store", "gateway.live", "gateway.connection"),
    ("gateway.mailbox", "migrations"),
    ("gateway.memory", "gateway.agent", "adapters.*"),
    ("gateway.pipeline",),
    ("gateway.people",),
    ("gateway.ops",),
    ("gateway.web", "gateway.setup"),
    ("gateway.supervisor",),
    ("gateway.app",),
    ("gateway.cli",),
)
_ROWS = {place: row for row, places in enumerate(LAYERS) for place in places}
#: packages that hold nothing but a docstring and the version: everyone may import them
_BARE = ("gateway", "adapters")


def place(name: str) -> str:
    """Return the place of the table that a module belongs to, or its own name."""
    parts = name.split(".")
    return parts[0] if parts[0] == "migrations" else ".".join(parts[:2])


def _row(where: str) -> int | None:
    return _ROWS.get("adapters.*" if where.startswith("adapters.") else where)


def layer_faults(found: list[Module]) -> list[str]:
    """Return one line for each import that does not point strictly downward."""
    return [fault for each in imports(found) if (fault := _fault(each))]


def _fault(each: Import) -> str:
    here, there = place(each.source.name), place(each.target)
    if there.split(".")[0] not in ("gateway", "adapters", "migrations"):
        return ""
    if here == there or there in _BARE:
        return ""
    upper, lower = _row(here), _row(there)
    if upper is None or lower is None:
        return f"{each.where}: {here if upper is None else there} has no row in the layer table"
    if lower < upper:
        return ""
    direction = "its neighbour" if lower == upper else "upward:"
    return f"{each.where}: {here} imports {direction} {each.target}"


def cycle(found: list[Module]) -> list[str]:
    """Return the names along one import cycle between modules, [] where there is none."""
    graph: dict[str, set[str]] = {module.name: set() for module in found}
    for each in imports(found):
        if each.target in graph and each.target != each.source.name:
            graph[each.source.name].add(each.target)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []
