"""Summaries of sessions: when one is due, what it is made from, which one fits a context."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlalchemy as sa

from gateway.memory.embedded import messages, sessions, tables
from gateway.memory.embedded.deriver import Statement, Talk
from gateway.memory.embedded.values import Json, SessionRef, stamp, token_count
from gateway.store import statements

if TYPE_CHECKING:
    from datetime import datetime

    from gateway.store.engine import Tx

summary = tables.summary

#: kind → (messages after which it is due, the session's setting for that)
_CADENCE = {
    "short": (20, "messages_per_short_summary"),
    "long": (60, "messages_per_long_summary"),
}
#: how much of a context a summary may take
_SHARE = 0.4
#: messages that one summary is made from at most
_STRETCH = 200


@dataclass(frozen=True, slots=True)
class Due:
    """A summary to be made: of ``talk``, up to message ``seq``."""

    kind: str
    talk: Talk
    seq: int
    message: str


def due(conn: sa.Connection, ref: SessionRef, *, before: int, after: int) -> list[Due]:
    """Return the summaries that fell due when the session grew from ``before`` to ``after``."""
    kinds = passed(conn, ref, before=before, after=after)
    return [_made_from(conn, ref, kind, after) for kind in kinds]


def passed(conn: sa.Connection, ref: SessionRef, *, before: int, after: int) -> list[str]:
    """Return the kinds that fell due."""
    settings = _settings(conn, ref)
    if settings.get("enabled") is False:
        return []
    return [
        kind
        for kind, (default, name) in _CADENCE.items()
        if before // (settings.get(name) or default) < after // (settings.get(name) or default)
    ]


def _settings(conn: sa.Connection, ref: SessionRef) -> Json:
    here = sa.select(tables.session.c.configuration).where(sessions.is_(ref))
    above = sa.select(tables.workspace.c.configuration).where(
        tables.workspace.c.id == ref.workspace
    )
    found = [conn.execute(query).scalar() or {} for query in (above, here)]
    return {key: value for each in found for key, value in (each.get("summary") or {}).items()}


def _made_from(conn: sa.Connection, ref: SessionRef, kind: str, seq: int) -> Due:
    held = read(conn, ref).get(kind)
    start = max(held["seq"] if held else 0, seq - _STRETCH)
    message = messages.message
    query = sa.select(message).where(messages.within(ref), message.c.seq > start)
    rows = conn.execute(query.where(message.c.seq <= seq).order_by(message.c.seq)).mappings().all()
    lines = tuple((row["peer"], Statement(row["content"], row["created_at"])) for row in rows)
    talk = Talk(lines, previous=held["content"] if held else "")
    return Due(kind, talk, seq, rows[-1]["public_id"] if rows else "")


def keep(tx: Tx, ref: SessionRef, made: Due, text: str, *, now: datetime) -> None:
    """Store a summary unless a newer one is there. Raises ``NotFoundError`` (session deleted)."""
    sessions.require(tx.conn, ref, lock=True)
    fresh = {
        "content": text,
        "seq": made.seq,
        "message": made.message,
        "token_count": token_count(text),
        "created_at": now,
    }
    insert = statements.insert(tx.conn, summary).values(**ref._asdict(), kind=made.kind, **fresh)
    tx.conn.execute(
        insert.on_conflict_do_update(
            index_elements=["workspace", "session", "kind"],
            set_=fresh,
            where=summary.c.seq <= made.seq,
        )
    )


def read(conn: sa.Connection, ref: SessionRef) -> dict[str, sa.RowMapping]:
    """Return the session's summaries by kind."""
    query = sa.select(summary).where(
        summary.c.workspace == ref.workspace, summary.c.session == ref.session
    )
    return {row["kind"]: row for row in conn.execute(query).mappings()}


def fitting(conn: sa.Connection, ref: SessionRef, tokens: int) -> sa.RowMapping | None:
    """Return the summary for a context of ``tokens``: the longest that fits its share of it."""
    room = int(tokens * _SHARE)
    fits = [row for row in read(conn, ref).values() if row["token_count"] <= room]
    return max(fits, key=lambda row: row["token_count"], default=None)


def view(row: sa.RowMapping | None) -> Json | None:
    """Show a summary as the API does."""
    if row is None:
        return None
    return {
        "content": row["content"],
        "message_id": row["message"],
        "summary_type": row["kind"],
        "created_at": stamp(row["created_at"]),
        "token_count": row["token_count"],
    }


def both(conn: sa.Connection, ref: SessionRef) -> Json:
    """Return both summaries as the API shows them."""
    sessions.refuse_deleted(conn, ref)
    held = read(conn, ref)
    return {
        "id": ref.session,
        "short_summary": view(held.get("short")),
        "long_summary": view(held.get("long")),
    }
