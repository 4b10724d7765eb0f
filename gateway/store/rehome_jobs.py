"""Jobs by which memory follows identity, or moves into another service, with their progress."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from gateway.store.people_tables import rehome_job as table

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from gateway.store.engine import Connection, Tx
    from gateway.store.identity_changes import Author

FOLLOW, PURGE, REPLAY = "follow", "purge", "replay"
WAITING, RUNNING, DONE = "waiting", "running", "done"


@dataclass(frozen=True, slots=True)
class Job:
    """One job and how far it is."""

    id: int
    kind: str
    state: str
    actor: str
    reason: str
    #: whose memory; None: everybody's
    people: tuple[str, ...] | None
    groups: bool
    sessions_total: int
    sessions_done: int
    messages_total: int
    messages_done: int
    requests: int
    at_session: str
    at_seq: int
    notes: tuple[str, ...]
    error: str
    created_at: datetime
    updated_at: datetime
    finished_at: datetime | None


def add(
    tx: Tx,
    kind: str,
    author: Author,
    *,
    people: Iterable[str] | None,
    groups: bool,
    totals: tuple[int, int],
    now: datetime,
) -> int:
    """Add a job that waits; ``totals``: sessions and messages."""
    statement = (
        sa.insert(table)
        .values(
            kind=kind,
            state=WAITING,
            actor=author.actor,
            reason=author.reason,
            people=None if people is None else sorted(people),
            groups=groups,
            sessions_total=totals[0],
            messages_total=totals[1],
            notes=[],
            created_at=now,
            updated_at=now,
        )
        .returning(table.c.id)
    )
    return int(tx.conn.execute(statement).scalar_one())


def load(conn: Connection, id_: int) -> Job | None:
    """Return one job."""
    row = conn.execute(sa.select(table).where(table.c.id == id_)).first()
    return None if row is None else _job(row)


def listed(conn: Connection, *, limit: int = 20) -> list[Job]:
    """Return the jobs, the newest first."""
    rows = conn.execute(sa.select(table).order_by(table.c.id.desc()).limit(limit))
    return [_job(row) for row in rows]


def _job(row: sa.Row[Any]) -> Job:
    values = dict(row._mapping)
    values["people"] = None if row.people is None else tuple(row.people)
    values["notes"] = tuple(row.notes)
    return Job(**values)


def update(tx: Tx, id_: int, *, now: datetime, **values: Any) -> None:
    """Set columns of a job."""
    tx.conn.execute(sa.update(table).where(table.c.id == id_).values(updated_at=now, **values))


def progress(
    tx: Tx, id_: int, *, sessions: int = 0, messages: int = 0, requests: int = 0, now: datetime
) -> None:
    """Add to the counts of a job."""
    update(
        tx,
        id_,
        now=now,
        state=RUNNING,
        error="",
        sessions_done=table.c.sessions_done + sessions,
        messages_done=table.c.messages_done + messages,
        requests=table.c.requests + requests,
    )


def note(tx: Tx, id_: int, line: str, *, now: datetime) -> None:
    """Add a line for the operator, once."""
    job = load(tx.conn, id_)
    if job is not None and line not in job.notes:
        update(tx, id_, now=now, notes=[*job.notes, line])
