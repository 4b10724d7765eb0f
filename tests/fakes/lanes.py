"""Lanes whose handlers do as a test says, and the record of what they came to."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import sqlalchemy as sa

from gateway.mailbox import items
from gateway.mailbox.lanes import Done, Lane
from gateway.policy.retry import Backoff
from gateway.store import audit
from gateway.store.audit_tables import audit as audit_table
from gateway.store.tables import item as item_table
from tests.fakes.clock import START

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Any

    from gateway.mailbox.lanes import Lease, Outcome
    from gateway.store.engine import Store, Tx

LANE = "turn"
KEY = "chat"
#: 2 s, 4 s, 8 s, then given up
BACKOFF = Backoff(first=2.0, factor=2.0, ceiling=60.0, jitter=0.0, attempts=4)


def record(subject: str, action: str = "handled") -> Callable[[Tx], None]:
    """Return effects that leave one row."""
    return lambda tx: audit.record(tx, action, actor="lane", subject=f"item:{subject}", now=START)


async def recorded(store: Store, action: str = "handled") -> list[str]:
    """Return the subjects that were recorded, in order."""
    statement = sa.select(audit_table.c.subject).where(audit_table.c.action == action)
    found = await store.read(
        lambda conn: conn.execute(statement.order_by(audit_table.c.id)).scalars().all()
    )
    return [subject.removeprefix("item:") for subject in found]


async def put(store: Store, *names: str, key: str = KEY, lane: str = LANE) -> list[int]:
    """Put items, each with its name as dedupe key."""

    def fn(tx: Tx) -> list[int | None]:
        return [
            items.insert(tx, lane, key, dedupe=name, payload={"name": name}, now=START)
            for name in names
        ]

    return [number for number in await store.write(fn) if number is not None]


async def row(store: Store, name: str, lane: str = LANE) -> sa.Row[Any]:
    """Return the whole row of an item."""
    statement = sa.select(item_table).where(item_table.c.dedupe == name, item_table.c.lane == lane)
    return await store.read(lambda conn: conn.execute(statement).one())


async def finished(lease: Lease) -> Outcome:
    """Handle an item by recording its name."""
    return Done(record(lease.item.dedupe))


def bury(tx: Tx, item: items.Item, error: str) -> None:
    """Record a death."""
    record(f"{item.dedupe}: {error}", "dead")(tx)


def lane(handle: Callable[[Lease], Awaitable[Outcome]] = finished, **changes: Any) -> Lane:
    """Return a lane with the suite's pauses, whose dead are recorded."""
    return replace(Lane(LANE, handle, BACKOFF, on_dead=bury), **changes)
