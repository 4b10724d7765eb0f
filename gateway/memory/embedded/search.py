"""Searching messages by their words, within what the caller's condition lets be seen."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

import sqlalchemy as sa

from gateway.memory.embedded import messages, words

if TYPE_CHECKING:
    from gateway.memory.embedded.values import Json

#: the newest messages that are looked through: bounds the time of a search
HORIZON = 20_000


def search(
    conn: sa.Connection, visible: sa.ColumnElement[bool], query: str, *, limit: int
) -> list[Json]:
    """Return the messages with most of the query's words; among equals, the newest first."""
    asked = words.query(query)
    message = messages.message
    found = sa.select(message.c.id, message.c.content).where(visible)
    rows = conn.execute(
        found.order_by(message.c.id.desc()).limit(HORIZON).execution_options(yield_per=500)
    )
    scored = ((asked.count(content), number) for number, content in rows.tuples())
    best = heapq.nlargest(limit, (each for each in scored if each[0]))
    wanted = sa.select(message).where(message.c.id.in_([number for _, number in best]))
    by_number = {row["id"]: row for row in conn.execute(wanted).mappings()}
    return [messages.view(by_number[number]) for _, number in best]
