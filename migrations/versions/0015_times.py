"""Times as whole microseconds on SQLite: a third of what their text takes.

A text and a number never compare as times do, so what was written before is converted.
PostgreSQL has a type for times and stays as it is.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import sqlalchemy as sa
from alembic import op

if TYPE_CHECKING:
    from collections.abc import Iterator

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

TO_NUMBER = (
    "CAST(strftime('%s', substr({0}, 1, 19)) AS INTEGER) * 1000000"
    " + CAST(substr({0} || '.000000', 21, 6) AS INTEGER)"
)
TO_TEXT = (
    "strftime('%Y-%m-%d %H:%M:%S', {0} / 1000000, 'unixepoch')"
    " || '.' || printf('%06d', {0} % 1000000)"
)


def upgrade() -> None:
    """Convert every time."""
    _convert(TO_NUMBER, "text")


def downgrade() -> None:
    """Write them as texts again."""
    _convert(TO_TEXT, "integer")


def _convert(expression: str, kind: str) -> None:
    conn = op.get_bind()
    if conn.dialect.name != "sqlite":
        return
    with _without_triggers(conn):
        tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'search%'"
        for table in conn.execute(sa.text(tables)).scalars().all():
            for column in _times(conn, table):
                changed = expression.format(f'"{column}"')
                conn.execute(
                    sa.text(
                        f'UPDATE "{table}" SET "{column}" = {changed}'
                        f" WHERE typeof(\"{column}\") = '{kind}'"
                    )
                )


def _times(conn: sa.Connection, table: str) -> list[str]:
    columns = conn.execute(sa.text(f'PRAGMA table_info("{table}")'))
    return [column.name for column in columns if column.type == "DATETIME"]


@contextmanager
def _without_triggers(conn: sa.Connection) -> Iterator[None]:
    """Let rows be changed that nobody else may change."""
    held = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
    triggers = conn.execute(sa.text(held)).tuples().all()
    for name, _ in triggers:
        conn.exec_driver_sql(f'DROP TRIGGER "{name}"')
    yield
    for _, sql in triggers:
        conn.exec_driver_sql(sql)
