"""Statements that several table families need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement


def insert(conn: sa.Connection, table: sa.Table) -> sqlite.Insert | postgresql.Insert:
    """Return an INSERT that can say ON CONFLICT, for the connection's dialect."""
    if conn.dialect.name == "sqlite":
        return sqlite.insert(table)
    return postgresql.insert(table)


def count(conn: sa.Connection, table: sa.Table, *where: ColumnElement[bool]) -> int:
    """Return how many rows of ``table`` meet all conditions."""
    return int(
        conn.execute(sa.select(sa.func.count()).select_from(table).where(*where)).scalar_one()
    )


def count_by(
    conn: sa.Connection, column: sa.Column[Any], *where: ColumnElement[bool]
) -> dict[str, int]:
    """Return how many rows that meet all conditions there are for each value of a column."""
    rows = conn.execute(sa.select(column, sa.func.count()).where(*where).group_by(column))
    return dict(rows.tuples().all())
