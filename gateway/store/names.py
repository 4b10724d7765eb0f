"""Which original text holds a cleaned or shortened name, so that two never share one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from gateway.store import statements
from gateway.store.tables import taken_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from gateway.store.engine import Tx

PEER = "peer"
SESSION = "session"


def owner(conn: sa.Connection, kind: str) -> Callable[[str], str | None]:
    """Return a look-up: a name → the original text that holds it, or None."""

    def original_of(name: str) -> str | None:
        statement = sa.select(taken_name.c.original).where(
            taken_name.c.kind == kind, taken_name.c.name == name
        )
        return conn.execute(statement).scalar_one_or_none()

    return original_of


def taken(conn: sa.Connection, kind: str) -> dict[str, str]:
    """Return every name of a kind with the original text that holds it."""
    columns = (taken_name.c.name, taken_name.c.original)
    rows = conn.execute(sa.select(*columns).where(taken_name.c.kind == kind))
    return dict(rows.tuples().all())


def take(tx: Tx, kind: str, name: str, original: str) -> None:
    """Record that ``name`` stands for ``original``; a no-op when that is known."""
    statement = statements.insert(tx.conn, taken_name).values(
        kind=kind, name=name, original=original
    )
    tx.conn.execute(statement.on_conflict_do_nothing(index_elements=["kind", "name"]))
