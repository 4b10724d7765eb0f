"""What turns leave behind once they are long done: who spoke and what was said stays, no more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from gateway.model.outbound import PartState
from gateway.model.turn import TRANSITIONS
from gateway.store.tables import checkpoint, inbox, outbox, turn

if TYPE_CHECKING:
    from datetime import datetime

    from gateway.store.engine import Tx

#: SQLite's number for a file that is shrunk on request
_INCREMENTAL = 2
#: states after which nothing happens to a turn any more
FINAL = tuple(state for state, following in TRANSITIONS.items() if not following)


def forget_ways(tx: Tx, *, before: datetime, limit: int) -> int:
    """Drop the steps of turns that ended before ``before``; returns how many turns.

    With them go what was recalled and what the platform sent along with the words. Each turn
    itself stays, with its person, and so does the key that keeps a redelivery silent.
    """
    old = (
        sa.select(checkpoint.c.turn)
        .join(turn, turn.c.id == checkpoint.c.turn)
        .where(turn.c.state.in_(FINAL), turn.c.updated_at < before)
        .group_by(checkpoint.c.turn)
        .limit(limit)
    )
    ids = list(tx.conn.execute(old).scalars())
    if ids:
        tx.conn.execute(sa.delete(checkpoint).where(checkpoint.c.turn.in_(ids)))
        tx.conn.execute(sa.update(turn).where(turn.c.id.in_(ids)).values(recall=None))
        tx.conn.execute(sa.update(inbox).where(inbox.c.turn.in_(ids)).values(event=sa.null()))
    return len(ids)


def forget_delivered(tx: Tx, *, before: datetime, limit: int) -> int:
    """Drop parts that were delivered before ``before``; returns how many."""
    old = (
        sa.select(outbox.c.id)
        .where(outbox.c.state == PartState.DELIVERED, outbox.c.updated_at < before)
        .limit(limit)
    )
    return tx.conn.execute(sa.delete(outbox).where(outbox.c.id.in_(old))).rowcount


def give_back(tx: Tx, *, pages: int) -> int:
    """Give free pages of the file back to the disk; returns how many are left.

    PostgreSQL does that by itself, and so does no SQLite file that an earlier version made.
    """
    if tx.conn.dialect.name != "sqlite":
        return 0
    pragma = tx.conn.exec_driver_sql
    if pragma("PRAGMA auto_vacuum").scalar() != _INCREMENTAL:
        return 0
    free = int(pragma("PRAGMA freelist_count").scalar_one())
    for _ in range(min(pages, free)):
        pragma("PRAGMA incremental_vacuum(1)")  # Python's driver steps a statement but once
    return int(pragma("PRAGMA freelist_count").scalar_one())
