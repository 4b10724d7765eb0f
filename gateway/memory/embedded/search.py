"""Searching messages by words and by meaning, within what the caller's condition lets be seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from gateway.memory.embedded import messages
from gateway.memory.embedded.deriver import MESSAGE, Statement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gateway.memory.embedded.memory import Memory
    from gateway.memory.embedded.values import Json
    from gateway.memory.embedded.wire import Search

#: the newest messages that are looked through: bounds the time of a search
HORIZON = 20_000

message = messages.message


async def search(memory: Memory, visible: sa.ColumnElement[bool], wanted: Search) -> list[Json]:
    """Return the messages that fit best; among equals, the newest first."""
    items = await memory.store.read(lambda conn: _newest(conn, visible, wanted.filters))
    fitting = (await memory.ranker.fitting(wanted.query, items))[: wanted.limit]
    numbers = [each.key[1] for each in fitting if each.key is not None]
    return await memory.store.read(lambda conn: _shown(conn, numbers))


def _newest(
    conn: sa.Connection, visible: sa.ColumnElement[bool], filters: Json | None
) -> list[Statement]:
    query = sa.select(message.c.id, message.c.content, message.c.created_at)
    query = query.where(visible, messages.fields(conn).condition(filters))
    newest = query.order_by(message.c.id.desc()).limit(HORIZON).execution_options(yield_per=500)
    return [Statement(text, at, (MESSAGE, row)) for row, text, at in conn.execute(newest).tuples()]


def _shown(conn: sa.Connection, numbers: Sequence[int]) -> list[Json]:
    wanted = sa.select(message).where(message.c.id.in_(numbers))
    by_number = {row["id"]: row for row in conn.execute(wanted).mappings()}
    return [messages.view(by_number[number]) for number in numbers if number in by_number]
