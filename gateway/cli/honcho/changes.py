"""Changing keys of the memory settings from a command: judged, written, audited, told."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from gateway.cli.common import home, loaded, note, show
from gateway.cli.layout import pairs
from gateway.text.counted import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from gateway.settings.dialects import Value
    from gateway.settings.home import Home
    from gateway.settings.read import Loaded
    from gateway.settings.splice import Remove
    from gateway.store.engine import Tx

    Changes = Mapping[tuple[str, ...], Value | Remove]

#: keys that a running gateway reads at its start alone
AT_START = frozenset(
    {
        *("apiKey", "baseUrl", "environment", "timeout", "enabled"),
        *("workspace", "aiPeer", "sessionStrategy", "sessions"),
    }
)


@dataclass(frozen=True, slots=True)
class Changed:
    """What was written and what it means."""

    after: Loaded
    #: key → (what held before, what holds now)
    values: Mapping[str, tuple[Any, Any]]
    file: Path
    running: bool

    @property
    def takes_effect(self) -> str:
        """``now`` (a running gateway follows), ``restart`` or ``start``."""
        if not self.running:
            return "start"
        return "restart" if AT_START & {key.split(".")[0] for key in self.values} else "now"

    def told(self) -> dict[str, Any]:
        """Return it for ``--json``."""
        return {
            "changed": {
                key: {"from": before, "to": after} for key, (before, after) in self.values.items()
            },
            "file": str(self.file),
            "takes_effect": self.takes_effect,
        }


def change(changes: Changes, before: Loaded | None = None) -> Changed:
    """Write keys of the chosen profile; what would not be accepted is not written."""
    from gateway import app

    place = home()
    before = before or loaded()
    after = app.change_memory(place, before, changes)
    for line in after.warnings:
        if line not in before.warnings:
            note(f"warning: {line}")
    _say_whom_it_counts_for(place, after, changes)
    # what stands below a key may name a conversation, and so a person
    keys = sorted({f"honcho.{key[0]}" for key in changes})
    audit(place, "settings.changed", subject="settings", keys=keys)
    return compare(before, after, changes)


def _say_whom_it_counts_for(place: Home, after: Loaded, changes: Changes) -> None:
    """A key at the root of a file that several profiles read holds for more than this one."""
    from gateway.settings.said import read_said

    others = [
        one.profile
        for one in place.neighbours()
        if one.profile != after.settings.profile and one.honcho == after.honcho_file
    ]
    said = read_said(after.honcho_file, after.hosts)
    general = [key[0] for key in changes if key[0] in said.general and key[0] not in said.own]
    if others and general:
        note(
            f"note: {', '.join(general)} stands at the root of {after.honcho_file}, so it counts "
            f"for {', '.join(others)} too, unless their blocks say otherwise"
        )


def compare(before: Loaded, after: Loaded, changes: Changes) -> Changed:
    """Return what keys held before and hold now."""
    from gateway.store.lock import ProcessLock

    values = {".".join(key): (value_of(before, key), value_of(after, key)) for key in changes}
    running = ProcessLock(home().lock).holder() is not None
    return Changed(after, values, before.honcho_file, running)


def value_of(configuration: Loaded, key: tuple[str, ...]) -> Any:
    """Return what holds for a key, as JSON would have it; None for none."""
    if key == ("enabled",):
        return configuration.honcho.active
    found = configuration.honcho.model_dump(mode="json", by_alias=True).get(key[0])
    return found.get(key[1]) if len(key) > 1 and isinstance(found, dict) else found


def audit(place: Home, action: str, *, subject: str, **detail: Any) -> None:
    """Note who changed what, where a database of this version exists."""
    from gateway.ops.clock import SystemClock
    from gateway.store import audit as rows

    now = SystemClock().now()

    def write(tx: Tx) -> None:
        rows.record(tx, action, actor="cli", subject=subject, now=now, **detail)

    write_beside(place, write)


def write_beside(place: Home, write: Callable[[Tx], object]) -> None:
    """Write to a home's database beside whatever runs there, if there is one of this version."""
    if not place.database.exists():
        return
    from gateway.store import migrate
    from gateway.store.sqlite import SqliteStore

    store = SqliteStore(place.database)

    async def apply() -> None:
        try:
            if migrate.current(store.engine) == migrate.HEAD:
                await store.write(write)
        finally:
            await store.close()

    asyncio.run(apply())


def report(done: Changed, *, as_json: bool) -> None:
    """Print what was changed and when it counts."""
    show(done.told(), as_json=as_json, human=lambda: print_changed(done))


_EFFECT = {
    "now": "the running gateway follows at once",
    "restart": "counts when the gateway is started again",
    "start": "counts at the next start; no gateway runs now",
}


def print_changed(done: Changed) -> None:
    """Print what was changed and when it counts."""
    rows = [(key, _step(before, after)) for key, (before, after) in done.values.items()]
    found = [*rows, ("written", str(done.file)), ("effect", _EFFECT[done.takes_effect])]
    typer.echo("\n".join(pairs(found)))


def _step(before: Any, after: Any) -> str:
    return f"{plain(before)} → {plain(after)}" if before != after else f"{plain(after)}, as before"


def plain(value: Any) -> str:
    """Return a value as it may be read."""
    if value is None or value == "":
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict | list | tuple):
        return counted(len(value), "entry") if value else "none"
    return str(value)
