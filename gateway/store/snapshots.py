"""Frozen snapshots: what the memory files said at the start of a session, byte for byte."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from gateway.store import statements
from gateway.store.note_tables import snapshot
from gateway.store.tables import session

if TYPE_CHECKING:
    from datetime import datetime

    from gateway.store.engine import Tx
    from gateway.store.recall import RecallKey


def load(conn: sa.Connection, key: RecallKey) -> str | None:
    """Return what was frozen for a person in a session, None before the first turn."""
    where = [snapshot.c[name] == value for name, value in key._asdict().items()]
    return conn.execute(sa.select(snapshot.c.text).where(*where)).scalar()


def keep(tx: Tx, key: RecallKey, text: str, *, now: datetime) -> str:
    """Freeze ``text`` unless that was done before; return what is frozen.

    The person's snapshots of closed sessions go: nothing will ask for them again.
    """
    closed = sa.select(session.c.id).where(session.c.closed_at.is_not(None))
    tx.conn.execute(
        sa.delete(snapshot).where(snapshot.c.peer == key.peer, snapshot.c.session.in_(closed))
    )
    statement = statements.insert(tx.conn, snapshot).values(
        **key._asdict(), text=text, taken_at=now
    )
    index = ["session", "peer", "audience"]
    tx.conn.execute(statement.on_conflict_do_nothing(index_elements=index))
    frozen = load(tx.conn, key)
    return text if frozen is None else frozen
