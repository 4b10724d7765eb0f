"""Single facts by name: cursors, the first Slack team, lock-outs, what adapters report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from gateway.store import statements
from gateway.store.tables import fact

if TYPE_CHECKING:
    from datetime import datetime

    from gateway.store.engine import Tx

#: prefix of the facts that adapters keep as cursors
CURSOR = "cursor:"
#: name of the fact that holds the Slack team whose user ids stand bare: a fixed cursor
BARE_TEAM = f"{CURSOR}slack.bare_team"


def get(conn: sa.Connection, name: str) -> str | None:
    """Return a fact's value, or None."""
    return conn.execute(sa.select(fact.c.value).where(fact.c.name == name)).scalar_one_or_none()


def put(tx: Tx, name: str, value: str, *, now: datetime) -> None:
    """Set a fact."""
    statement = statements.insert(tx.conn, fact).values(name=name, value=value, updated_at=now)
    tx.conn.execute(
        statement.on_conflict_do_update(
            index_elements=["name"], set_={"value": value, "updated_at": now}
        )
    )


def keep(tx: Tx, name: str, value: str, *, now: datetime) -> None:
    """Set a fact unless it is set already."""
    statement = statements.insert(tx.conn, fact).values(name=name, value=value, updated_at=now)
    tx.conn.execute(statement.on_conflict_do_nothing(index_elements=["name"]))


def drop(tx: Tx, name: str) -> None:
    """Forget a fact."""
    tx.conn.execute(sa.delete(fact).where(fact.c.name == name))


def starting_with(conn: sa.Connection, prefix: str) -> dict[str, tuple[str, datetime]]:
    """Return value and time of all facts whose name starts with ``prefix``."""
    starts = sa.func.substr(fact.c.name, 1, len(prefix)) == prefix
    rows = conn.execute(sa.select(fact).where(starts).order_by(fact.c.name))
    return {row.name: (row.value, row.updated_at) for row in rows}
