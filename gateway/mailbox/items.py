"""The mailbox's rows: put, claim with a fencing epoch, finish. All inside the caller's ``Tx``.

An item is live while ``ready`` or ``running``. The head of (lane, key) is the live item with the
lowest id; only the head is ever claimed, so a failing or waiting head holds back its own key and
nothing else. Claiming raises ``epoch``: whoever claimed before can no longer write.

A head that is found running was broken off: its process died, or was taken for dead, or could not
write down what came of it. That counts as a crash and not as a try (``gateway.policy.crashes``).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from gateway.model.errors import StaleLeaseError
from gateway.store import statements
from gateway.store.tables import item as table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime

    from gateway.store.engine import Tx


class ItemState(StrEnum):
    """Life of an item; DEAD means given up and kept for the operator."""

    READY = "ready"
    RUNNING = "running"
    DONE = "done"
    DEAD = "dead"


LIVE = (ItemState.READY, ItemState.RUNNING)


@dataclass(frozen=True, slots=True)
class Item:
    """A claimed or waiting item. ``attempts`` counts the tries, this one included, without those
    that a crash broke off: ``crashes`` counts them.
    """

    id: int
    lane: str
    key: str
    dedupe: str
    payload: Mapping[str, Any]
    attempts: int
    crashes: int
    epoch: int
    run_at: datetime
    created_at: datetime


@dataclass(frozen=True, slots=True)
class NotYet:
    """The head exists and may not run before ``run_at``."""

    run_at: datetime


@dataclass(frozen=True, slots=True)
class Suspect:
    """The head was running at so many crashes that it may only run alone."""


_COLUMNS = (
    table.c.id,
    table.c.lane,
    table.c.key,
    table.c.dedupe,
    table.c.payload,
    table.c.attempts,
    table.c.crashes,
    table.c.epoch,
    table.c.run_at,
    table.c.created_at,
)


def insert(
    tx: Tx, lane: str, key: str, *, dedupe: str, payload: Mapping[str, Any], now: datetime
) -> int | None:
    """Add an item; None when (lane, dedupe) was put before, whatever became of that one."""
    statement = (
        statements.insert(tx.conn, table)
        .values(
            lane=lane,
            key=key,
            dedupe=dedupe,
            state=ItemState.READY,
            payload=dict(payload),
            run_at=now,
            created_at=now,
        )
        .on_conflict_do_nothing(index_elements=["lane", "dedupe"])
        .returning(table.c.id)
    )
    return tx.conn.execute(statement).scalar_one_or_none()


def _live(lane: str, key: str) -> sa.ColumnElement[bool]:
    return sa.and_(table.c.lane == lane, table.c.key == key, table.c.state.in_(LIVE))


def claim(
    tx: Tx,
    lane: str,
    key: str,
    *,
    now: datetime,
    accept: Callable[[int], bool] = lambda _crashes: True,
) -> Item | NotYet | Suspect | None:
    """Claim the head of (lane, key), fencing off whoever held it.

    ``accept`` tells whether an item of so many crashes may run now.
    """
    columns = (table.c.id, table.c.run_at, table.c.state, table.c.attempts, table.c.crashes)
    head = sa.select(*columns).where(_live(lane, key)).order_by(table.c.id)
    row = tx.conn.execute(head.limit(1).with_for_update()).first()
    if row is None:
        return None
    if row.run_at > now:
        return NotYet(row.run_at)
    broken_off = row.state == ItemState.RUNNING
    crashes = row.crashes + broken_off
    if not accept(crashes):
        return Suspect()
    claimed = tx.conn.execute(
        sa.update(table)
        .where(table.c.id == row.id)
        .values(
            state=ItemState.RUNNING,
            epoch=table.c.epoch + 1,
            attempts=row.attempts + (not broken_off),
            crashes=crashes,
        )
        .returning(*_COLUMNS)
    ).one()
    return Item(*claimed)


def fence(tx: Tx, item: Item) -> None:
    """Raise ``StaleLeaseError`` unless ``item`` is still held under its epoch."""
    held = sa.select(table.c.id).where(
        table.c.id == item.id, table.c.epoch == item.epoch, table.c.state == ItemState.RUNNING
    )
    if tx.conn.execute(held.with_for_update()).first() is None:
        raise StaleLeaseError(f"{item.lane} item {item.id} was taken over by another worker")


def _leave(tx: Tx, item: Item, **values: Any) -> None:
    fence(tx, item)
    tx.conn.execute(sa.update(table).where(table.c.id == item.id).values(**values))


def finish(tx: Tx, item: Item, *, now: datetime) -> None:
    """Mark a held item done."""
    _leave(tx, item, state=ItemState.DONE, finished_at=now, error="")


def bury(tx: Tx, item: Item, *, error: str, now: datetime) -> None:
    """Give a held item up; it stays visible and no longer holds back its key."""
    _leave(tx, item, state=ItemState.DEAD, finished_at=now, error=error)


def put_back(
    tx: Tx, item: Item, *, run_at: datetime, error: str = "", counted: bool = True
) -> None:
    """Make a held item claimable again at ``run_at``; uncounted: as if not claimed."""
    _leave(
        tx,
        item,
        state=ItemState.READY,
        run_at=run_at,
        error=error,
        attempts=item.attempts if counted else item.attempts - 1,
    )


def waiting_behind(tx: Tx, item: Item, *, limit: int) -> list[Item]:
    """Return the live items of the same key after ``item``, oldest first."""
    rows = tx.conn.execute(
        sa.select(*_COLUMNS)
        .where(_live(item.lane, item.key), table.c.id > item.id)
        .order_by(table.c.id)
        .limit(limit)
    )
    return [Item(*row) for row in rows]


def absorb(tx: Tx, ids: Iterable[int], *, now: datetime) -> None:
    """Mark waiting items done because the held item does their work too."""
    tx.conn.execute(
        sa.update(table)
        .where(table.c.id.in_(list(ids)), table.c.state == ItemState.READY)
        .values(state=ItemState.DONE, finished_at=now)
    )


def live_count(tx: Tx, lane: str, key: str) -> int:
    """Return how many items wait or run for (lane, key)."""
    return statements.count(tx.conn, table, _live(lane, key))


def newest(tx: Tx, lane: str, key: str) -> int | None:
    """Return the id of the last item that waits or runs for (lane, key)."""
    return tx.conn.execute(sa.select(sa.func.max(table.c.id)).where(_live(lane, key))).scalar()


def any_live(conn: sa.Connection, lane: str) -> bool:
    """Tell whether anything waits or runs in a lane."""
    live = sa.exists().where(table.c.lane == lane, table.c.state.in_(LIVE))
    return bool(conn.execute(sa.select(live)).scalar())


def live_keys(conn: sa.Connection) -> list[tuple[str, str]]:
    """Return each (lane, key) that has work."""
    rows = conn.execute(
        sa.select(table.c.lane, table.c.key).where(table.c.state.in_(LIVE)).distinct()
    )
    return [(row.lane, row.key) for row in rows]


def live_keys_by_crashes(conn: sa.Connection) -> list[tuple[str, str]]:
    """Return each (lane, key) that has work, those that were there at the fewest crashes first."""
    rows = conn.execute(
        sa.select(table.c.lane, table.c.key)
        .where(table.c.state.in_(LIVE))
        .group_by(table.c.lane, table.c.key)
        .order_by(sa.func.max(table.c.crashes), sa.func.min(table.c.id))
    )
    return [(row.lane, row.key) for row in rows]


def revive(tx: Tx, item_id: int, *, now: datetime) -> bool:
    """Make a dead item claimable again (an operator's retry); False when it is not dead."""
    changed = tx.conn.execute(
        sa.update(table)
        .where(table.c.id == item_id, table.c.state == ItemState.DEAD)
        .values(state=ItemState.READY, attempts=0, crashes=0, run_at=now, finished_at=None)
    )
    return changed.rowcount == 1


def hurry(tx: Tx, lane: str, dedupe: str, *, now: datetime) -> None:
    """Let a waiting item run now, and those put again for the same (``dedupe/…``)."""
    same = sa.or_(
        table.c.dedupe == dedupe, table.c.dedupe.startswith(f"{dedupe}/", autoescape=True)
    )
    tx.conn.execute(
        sa.update(table)
        .where(table.c.lane == lane, table.c.state == ItemState.READY, same)
        .values(run_at=now)
    )


def forget_done(tx: Tx, *, before: datetime, limit: int = 1000) -> int:
    """Delete up to ``limit`` items finished before ``before``; returns how many."""
    old = (
        sa.select(table.c.id)
        .where(table.c.state == ItemState.DONE, table.c.finished_at < before)
        .limit(limit)
    )
    return tx.conn.execute(sa.delete(table).where(table.c.id.in_(old))).rowcount


def live_by_lane(conn: sa.Connection) -> dict[str, int]:
    """Return how many items each lane has waiting or running."""
    rows = conn.execute(
        sa.select(table.c.lane, sa.func.count())
        .where(table.c.state.in_(LIVE))
        .group_by(table.c.lane)
    )
    return dict(rows.tuples().all())


def census(conn: sa.Connection) -> list[sa.Row[tuple[str, str, int, datetime]]]:
    """Return (lane, state, how many, the oldest one's time) of what is not done."""
    columns = (
        table.c.lane,
        table.c.state,
        sa.func.count().label("number"),
        sa.func.min(table.c.created_at).label("oldest"),
    )
    grouped = sa.select(*columns).where(table.c.state != ItemState.DONE)
    return list(conn.execute(grouped.group_by(table.c.lane, table.c.state)))
