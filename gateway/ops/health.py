"""What a running gateway says of itself, for ``status`` and ``doctor`` in other processes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import structlog

from gateway.mailbox import items
from gateway.memory.watch import SERVICE
from gateway.model.errors import GatewayError
from gateway.ops import watchman
from gateway.store import facts, inbox, ledger, outbox, turns

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from gateway.ports import Adapter, Clock
    from gateway.store.engine import Connection, Store, Tx

log = structlog.get_logger(__name__)

PREFIX = "adapter:"
#: name of the fact that says how the operator's page is
PAGE = "page"
#: name of the fact that says what is wrong with an edit that is not followed
KEPT = "settings:kept"
INTERVAL = 1.0


async def publish(store: Store, clock: Clock, adapters: Sequence[Adapter]) -> None:
    """Write each adapter's connection state into the store when it changes, until cancelled.

    How it ended is written too: it is what the next ``status`` has to go by.
    """
    written: dict[str, str] = {}
    try:
        while True:
            await _note(store, clock, adapters, written)
            await clock.sleep(INTERVAL)
    finally:
        await _note(store, clock, adapters, written)


async def _note(
    store: Store, clock: Clock, adapters: Sequence[Adapter], written: dict[str, str]
) -> None:
    states = _states(adapters)
    changed = {name: state for name, state in states.items() if written.get(name) != state}
    if not changed:
        return
    try:
        await store.write(lambda tx: _write(tx, changed, clock))
    except GatewayError as error:
        log.warning("health.unwritten", action="health", error=str(error))
    else:
        written.update(changed)


def _states(adapters: Sequence[Adapter]) -> dict[str, str]:
    return {
        f"{PREFIX}{adapter.platform}:{adapter.account}": json.dumps(
            {"state": adapter.status.state, "detail": adapter.status.detail}, ensure_ascii=False
        )
        for adapter in adapters
    }


def _write(tx: Tx, states: dict[str, str], clock: Clock) -> None:
    for name, state in states.items():
        facts.put(tx, name, state, now=clock.now())


def adapters(conn: Connection) -> list[dict[str, Any]]:
    """Return the last state each adapter wrote: platform, account, state, detail, since."""
    found = []
    for name, (value, at) in facts.starting_with(conn, PREFIX).items():
        platform, _, account = name.removeprefix(PREFIX).partition(":")
        found.append(
            {
                "platform": platform,
                "account": account,
                **json.loads(value),
                "since": at.isoformat(),
            }
        )
    return found


def keep_settings(tx: Tx, problems: Sequence[str], *, now: datetime) -> None:
    """Say why an edit of the settings is not followed; () when the files are."""
    if problems:
        facts.put(tx, KEPT, json.dumps(list(problems), ensure_ascii=False), now=now)
    else:
        facts.drop(tx, KEPT)


def kept_settings(conn: Connection) -> list[str]:
    """Return why the running gateway goes on with older settings than the files hold."""
    told = facts.get(conn, KEPT)
    return [] if told is None else list(json.loads(told))


def memory_service(conn: Connection) -> dict[str, Any]:
    """Return how the memory service was when it was last looked at: paused, code; {} if never."""
    told = facts.get(conn, SERVICE)
    return {} if told is None else dict(json.loads(told))


def page(conn: Connection) -> dict[str, Any]:
    """Return how the operator's page was when it last changed: state, detail; {} if never."""
    told = facts.get(conn, PAGE)
    return {} if told is None else dict(json.loads(told))


def report(conn: Connection) -> dict[str, Any]:
    """Return what the store knows of the gateway's health: connections, and counts by state."""
    return {
        "adapters": adapters(conn),
        "memory_service": memory_service(conn),
        "audit": watchman.state(conn),
        "page": page(conn),
        "settings_kept": kept_settings(conn),
        "counts": {
            "turns": turns.counts(conn),
            "parts": outbox.counts(conn),
            "memory": ledger.counts(conn),
            "mailbox": items.live_by_lane(conn),
            "aside": {"unreadable": count} if (count := inbox.set_aside_count(conn)) else {},
        },
    }
