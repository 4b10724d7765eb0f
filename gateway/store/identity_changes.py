"""The history of the identity keys: who changed what and why, whichever way it was made.

The file of the keys cannot be written in one transaction with its history. So a change is noted
before the file is touched and confirmed afterwards; whoever looks in between knows it again by
its revisions, and takes no change of our own for an edit by hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from gateway.policy import identity_change as policy
from gateway.store import facts
from gateway.store.people_tables import identity_change as table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from gateway.policy.identity_change import Edit, Path, Value
    from gateway.store.engine import Connection, Tx

WRITING, DONE, FAILED = "writing", "done", "failed"
#: name of the fact that holds the keys as they were last seen
KNOWN = "identity:keys"


@dataclass(frozen=True, slots=True)
class Record:
    """One change of the identity keys."""

    id: int
    at: datetime
    actor: str
    reason: str
    edits: tuple[Edit, ...]
    revision_before: str
    revision_after: str
    #: the change that this one took back
    undoes: int | None = None
    #: the change by which this one was taken back
    undone_by: int | None = None


@dataclass(frozen=True, slots=True)
class Author:
    """Who makes a change, and why."""

    actor: str
    reason: str = ""


def begin(
    tx: Tx,
    before: Mapping[Path, Value],
    after: Mapping[Path, Value],
    author: Author,
    *,
    undoes: int | None = None,
    state: str = WRITING,
    now: datetime,
) -> int:
    """Note a change that is about to be written; return its id."""
    edits = policy.differences(before, after)
    statement = (
        sa.insert(table)
        .values(
            state=state,
            actor=author.actor,
            reason=author.reason,
            revision_before=policy.revision(before),
            revision_after=policy.revision(after),
            edits=[[list(edit.path), edit.before, edit.after] for edit in edits],
            undoes=undoes,
            at=now,
        )
        .returning(table.c.id)
    )
    return int(tx.conn.execute(statement).scalar_one())


def confirm(tx: Tx, id_: int, present: Mapping[Path, Value], *, now: datetime) -> None:
    """Say that a change stands in the file."""
    tx.conn.execute(sa.update(table).where(table.c.id == id_).values(state=DONE))
    facts.put(tx, KNOWN, policy.dump(present), now=now)


def abandon(tx: Tx, id_: int) -> None:
    """Say that a change was not written."""
    tx.conn.execute(sa.update(table).where(table.c.id == id_).values(state=FAILED))


def notice(tx: Tx, present: Mapping[Path, Value], author: Author, *, now: datetime) -> int | None:
    """Record what was changed by hand since the keys were last seen; None where nothing was.

    What was written by us and not confirmed (a process was killed) is confirmed. The first look
    of all only remembers.
    """
    here = policy.revision(present)
    unconfirmed = sa.select(table.c.id).where(
        table.c.state == WRITING, table.c.revision_after == here
    )
    ours = tx.conn.execute(unconfirmed.order_by(table.c.id.desc())).scalars().first()
    if ours is not None:
        confirm(tx, ours, present, now=now)
        return None
    known = facts.get(tx.conn, KNOWN)
    if known is not None and policy.revision(policy.load(known)) == here:
        return None
    id_ = None
    if known is not None:
        id_ = begin(tx, policy.load(known), present, author, state=DONE, now=now)
    facts.put(tx, KNOWN, policy.dump(present), now=now)
    return id_


def find(conn: Connection, id_: int) -> Record | None:
    """Return one change that was made."""
    row = conn.execute(_select().where(table.c.id == id_)).first()
    return None if row is None else _record(row)


def listed(conn: Connection, *, limit: int = 100) -> list[Record]:
    """Return the changes that were made, the newest first."""
    rows = conn.execute(_select().order_by(table.c.id.desc()).limit(limit))
    return [_record(row) for row in rows]


def since(conn: Connection, revision: str) -> list[Record]:
    """Return the changes made since the keys were last as ``revision`` says, oldest first.

    Nothing where that is not known.
    """
    last = sa.select(sa.func.max(table.c.id)).where(
        table.c.state == DONE, table.c.revision_after == revision
    )
    at = conn.execute(last).scalar()
    if at is None:
        first = sa.select(sa.func.min(table.c.id)).where(
            table.c.state == DONE, table.c.revision_before == revision
        )
        at = conn.execute(first).scalar()
        if at is None:
            return []
        rows = conn.execute(_select().where(table.c.id >= at).order_by(table.c.id))
    else:
        rows = conn.execute(_select().where(table.c.id > at).order_by(table.c.id))
    return [_record(row) for row in rows]


def _select() -> sa.Select[Any]:
    again = table.alias("again")
    by = (
        sa.select(sa.func.max(again.c.id))
        .where(again.c.undoes == table.c.id, again.c.state == DONE)
        .correlate(table)
        .scalar_subquery()
    )
    return sa.select(table, by.label("undone_by")).where(table.c.state == DONE)


def _record(row: sa.Row[Any]) -> Record:
    return Record(
        id=row.id,
        at=row.at,
        actor=row.actor,
        reason=row.reason,
        edits=_edits(row.edits),
        revision_before=row.revision_before,
        revision_after=row.revision_after,
        undoes=row.undoes,
        undone_by=row.undone_by,
    )


def _edits(stored: Sequence[Sequence[Any]]) -> tuple[Edit, ...]:
    return tuple(policy.Edit(tuple(path), before, after) for path, before, after in stored)
