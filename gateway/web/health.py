"""How the gateway is: for the page, for machines that look every few seconds, for ``/metrics``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gateway import __version__
from gateway.mailbox import items
from gateway.mailbox.items import ItemState
from gateway.ops import watchman
from gateway.ports import ConnectionState
from gateway.store import inbox, ledger, outbox, turns
from gateway.web.shapes import ConnectionView, HealthView, LaneView, MemoryHealth

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from gateway.memory.breaker import BreakerState
    from gateway.ports import Adapter
    from gateway.store.engine import Connection
    from gateway.web.parts import Parts

#: states of a connection that are nobody's worry
CALM = frozenset({ConnectionState.STARTING, ConnectionState.CONNECTED, ConnectionState.STOPPED})


async def view(parts: Parts) -> HealthView:
    """Return how everything is. Raises ``StoreError`` where the database does not answer."""
    counted = await parts.store.read(_counts)
    connections = [_connection(each) for each in parts.adapters]
    memory = _memory(parts, counted["memory"])
    alarm = [f"the audit: {counted['audit']}"] if counted["audit"] else []
    problems = [*_troubles(connections), *_memory_trouble(memory), *alarm]
    return HealthView(
        version=__version__,
        profile=parts.current.rules.profile,
        started_at=parts.started,
        ready=not any(one.state == ConnectionState.BAD_CREDENTIALS for one in connections),
        problems=problems,
        connections=connections,
        lanes=_lanes(counted["lanes"]),
        memory=memory,
        turns=counted["turns"],
        parts=counted["parts"],
        unreadable=counted["unreadable"],
        audit=counted["audit"],
    )


def _counts(conn: Connection) -> dict[str, Any]:
    return {
        "turns": turns.counts(conn),
        "parts": outbox.counts(conn),
        "memory": ledger.counts(conn),
        "lanes": items.census(conn),
        "unreadable": inbox.set_aside_count(conn),
        "audit": watchman.state(conn)["problem"],
    }


def _connection(adapter: Adapter) -> ConnectionView:
    status = adapter.status
    return ConnectionView(
        platform=adapter.platform,
        account=adapter.account,
        state=status.state,
        detail=status.detail,
        since=status.since,
    )


def _troubles(connections: Iterable[ConnectionView]) -> list[str]:
    return [
        f"{one.platform} {one.account}: {one.state}{f' ({one.detail})' if one.detail else ''}"
        for one in connections
        if one.state not in CALM
    ]


def _memory(parts: Parts, counts: dict[str, int]) -> MemoryHealth:
    breaker = None if parts.memory is None else parts.memory.state
    return MemoryHealth(
        provider=parts.settings.memory.provider,
        state=_state(breaker),
        code="" if breaker is None else breaker.code,
        failures=0 if breaker is None else breaker.failures,
        pause_seconds=0 if breaker is None else round(breaker.pause),
        waiting=sum(counts.get(state, 0) for state in ledger.OPEN),
        saved=counts.get(ledger.LedgerState.SAVED, 0),
        parked=counts.get(ledger.LedgerState.PARKED, 0),
    )


def _state(breaker: BreakerState | None) -> str:
    if breaker is None:
        return "off"
    if breaker.pause > 0:
        return "paused"
    return "failing" if breaker.code else "well"


def _memory_trouble(memory: MemoryHealth) -> list[str]:
    if memory.state in ("well", "off"):
        return []
    return [f"the memory service is {memory.state} ({memory.code}); what was said waits for it"]


def _lanes(rows: Iterable[Any]) -> list[LaneView]:
    found: dict[str, dict[str, tuple[int, datetime]]] = {}
    for row in rows:
        found.setdefault(row.lane, {})[row.state] = (row.number, row.oldest)
    return [_lane(name, found[name]) for name in sorted(found)]


def _lane(name: str, states: dict[str, tuple[int, datetime]]) -> LaneView:
    live = [states[state][1] for state in items.LIVE if state in states]
    return LaneView(
        name=name,
        waiting=states.get(ItemState.READY, (0,))[0],
        running=states.get(ItemState.RUNNING, (0,))[0],
        dead=states.get(ItemState.DEAD, (0,))[0],
        oldest=min(live, default=None),
    )
