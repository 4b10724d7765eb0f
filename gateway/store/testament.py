"""Reading out all that is a person's, whole, for the person themself."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from gateway.store.link_tables import link
from gateway.store.note_tables import memory_write
from gateway.store.tables import (
    access_grant,
    checkpoint,
    file,
    inbox,
    ledger,
    message,
    person,
    session,
    turn,
)

if TYPE_CHECKING:
    from gateway.store.engine import Connection
    from gateway.store.estate import Estate

Rows = list[dict[str, Any]]


def read(conn: Connection, estate: Estate) -> dict[str, Rows]:
    """Return the tables of an export, as JSON takes them."""
    mine = turn.c.id.in_(estate.turns())
    return {
        "accounts": _rows(conn, sa.select(person).where(estate.owns(person))),
        "grants": _rows(conn, sa.select(access_grant).where(estate.owns(access_grant))),
        "links": _rows(conn, sa.select(link).where(estate.owns(link))),
        "messages": _rows(
            conn, _named(message, _TALK).where(estate.messages()).order_by(message.c.id)
        ),
        "turns": _rows(conn, _named(turn, session.c.conversation).where(mine).order_by(turn.c.id)),
        "checkpoints": _rows(
            conn,
            sa.select(checkpoint)
            .where(checkpoint.c.turn.in_(estate.turns()))
            .order_by(checkpoint.c.id),
        ),
        "ledger": _rows(
            conn,
            _named(ledger, message.c.turn, message.c.role)
            .join(message, message.c.id == ledger.c.message_id)
            .where(estate.remembered())
            .order_by(ledger.c.id),
        ),
        "files": _rows(
            conn, sa.select(file).where(file.c.turn.in_(estate.turns())).order_by(file.c.id)
        ),
        "staged_notes": _rows(
            conn, sa.select(memory_write).where(memory_write.c.peer.in_(estate.peers))
        ),
    }


#: where a message was said; what waits for its turn has no session yet
_TALK = sa.func.coalesce(
    session.c.conversation,
    sa.select(inbox.c.conversation)
    .where(inbox.c.message_id == message.c.id)
    .limit(1)
    .scalar_subquery(),
    "",
).label("conversation")


def _named(table: sa.Table, *more: sa.ColumnElement[Any]) -> sa.Select[Any]:
    """Return a table's columns and more, with the session's name in place of its number."""
    without = {"session_number", "recall"}
    columns = [column for column in table.c if column.name not in without]
    statement = sa.select(*columns, session.c.id.label("session"), *more).select_from(table)
    return statement.outerjoin(session, session.c.number == table.c.session_number)


def _rows(conn: Connection, statement: sa.Select[Any]) -> Rows:
    found = conn.execute(statement).mappings()
    return [{key: _plain(value) for key, value in row.items()} for row in found]


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value
