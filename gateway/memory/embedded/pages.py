"""Lists in pages, as the API cuts them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gateway.memory.embedded.values import Json, Window

#: no list is that long, and SQLite counts no further
_LAST_ROW = 2**62


def page(
    conn: sa.Connection,
    query: sa.Select[Any],
    window: Window,
    view: Callable[[sa.RowMapping], Json],
) -> Json:
    """Return one page of an ordered query, each row shown by ``view``."""
    total = conn.execute(
        sa.select(sa.func.count()).select_from(query.order_by(None).subquery())
    ).scalar_one()
    offset = min((window.page - 1) * window.size, _LAST_ROW)
    rows = conn.execute(query.limit(window.size).offset(offset)).mappings()
    return {
        "items": [view(row) for row in rows],
        "total": total,
        "page": window.page,
        "size": window.size,
        "pages": -(-total // window.size),
    }


def direction(window: Window, *columns: sa.ColumnElement[Any]) -> list[sa.ColumnElement[Any]]:
    """Return the columns to order by, backwards where the window asks for it."""
    return [column.desc() if window.reverse else column.asc() for column in columns]
