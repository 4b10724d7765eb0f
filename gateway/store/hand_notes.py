"""What was written down about somebody by hand, or given along when a person became another.

Messages can be sent anew to another peer; a conclusion by the agent's own hand, a card and an
entry of a memory file cannot. So it is kept what they were, and where they stand since.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from gateway.store.people_tables import hand_note as table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from gateway.model.ids import PeerId, SessionId
    from gateway.store.engine import Connection, Tx


class NoteKind(StrEnum):
    """What kind of thing it is."""

    CONCLUSION = "conclusion"
    #: the facts of a card as they were set last; others on it were derived
    FACTS = "facts"
    #: facts that one card was given from another
    CARD = "card"
    #: entries that one person's memory file was given from another's
    FILE = "file"


@dataclass(frozen=True, slots=True)
class Note:
    """One thing, about whom it was, and whom it is about since memory followed."""

    id: int
    kind: NoteKind
    #: who holds the view; of a file: which one
    observer: str
    observed: PeerId
    holder: PeerId
    session: SessionId | None
    content: Any
    #: the conclusion's id at the service: as written ("" when that is gone), and where it is now
    ref: str
    held_ref: str


def add(
    tx: Tx,
    kind: NoteKind,
    observer: str,
    observed: str,
    *,
    holder: str,
    session: str | None = None,
    content: Any,
    ref: str = "",
    now: datetime,
) -> int:
    """Note one thing; return its number."""
    statement = sa.insert(table).values(
        kind=kind,
        observer=observer,
        observed=observed,
        holder=holder,
        session=session,
        content=content,
        ref=ref,
        held_ref=ref,
        at=now,
    )
    return int(tx.conn.execute(statement.returning(table.c.id)).scalar_one())


def of(conn: Connection, *kinds: NoteKind) -> list[Note]:
    """Return what there is of some kinds, the oldest first."""
    rows = conn.execute(sa.select(table).where(table.c.kind.in_(kinds)).order_by(table.c.id))
    return [
        Note(
            id=row.id,
            kind=NoteKind(row.kind),
            observer=row.observer,
            observed=row.observed,
            holder=row.holder,
            session=row.session,
            content=row.content,
            ref=row.ref,
            held_ref=row.held_ref,
        )
        for row in rows
    ]


def set_facts(
    tx: Tx, observer: str, observed: str, facts: Sequence[str], *, now: datetime
) -> None:
    """Note what a card was set to, in place of what it was set to before."""
    same = (table.c.observer == observer, table.c.observed == observed)
    tx.conn.execute(sa.delete(table).where(table.c.kind == NoteKind.FACTS, *same))
    if facts:
        add(tx, NoteKind.FACTS, observer, observed, holder=observed, content=list(facts), now=now)


def facts(conn: Connection, observer: str, observed: str) -> tuple[str, ...]:
    """Return what a card was set to last."""
    for one in of(conn, NoteKind.FACTS):
        if (one.observer, one.observed) == (observer, observed):
            return tuple(one.content)
    return ()


def update(tx: Tx, id_: int, **values: Any) -> None:
    """Set columns of a note."""
    tx.conn.execute(sa.update(table).where(table.c.id == id_).values(**values))


def remove(tx: Tx, id_: int) -> None:
    """Forget a note."""
    tx.conn.execute(sa.delete(table).where(table.c.id == id_))


def forget(tx: Tx, ref: str) -> None:
    """Forget the conclusion that stands at the service under ``ref``."""
    tx.conn.execute(sa.delete(table).where(sa.or_(table.c.ref == ref, table.c.held_ref == ref)))
