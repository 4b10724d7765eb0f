"""Messages: stored in batches, in order, whole; and who was there to hear them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from gateway.memory.embedded import members, pairs, sessions, tables
from gateway.memory.embedded.errors import NotFoundError
from gateway.memory.embedded.filters import Fields
from gateway.memory.embedded.pages import direction, page
from gateway.memory.embedded.values import (
    Flags,
    Json,
    PairRef,
    SessionRef,
    Window,
    new_id,
    stamp,
    token_count,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from gateway.memory.embedded.wire import MessageCreate
    from gateway.store.engine import Tx

message = tables.message


@dataclass(frozen=True, slots=True)
class Stored:
    """A batch that was stored: its messages as shown, and the number of the last one."""

    messages: list[Json]
    last_seq: int
    #: authors of what somebody is to think about
    heard: frozenset[str] = frozenset()


def view(row: Mapping[Any, Any]) -> Json:
    """Show a message as the API does."""
    return {
        "id": row["public_id"],
        "content": row["content"],
        "peer_id": row["peer"],
        "session_id": row["session"],
        "metadata": row["metadata"],
        "created_at": stamp(row["created_at"]),
        "workspace_id": row["workspace"],
        "token_count": row["token_count"],
    }


def fields(conn: sa.Connection) -> Fields:
    """Return what messages may be filtered on."""
    columns: dict[str, sa.ColumnElement[Any]] = {
        "workspace_id": message.c.workspace,
        "session_id": message.c.session,
        "peer_id": message.c.peer,
        "token_count": message.c.token_count,
        "created_at": message.c.created_at,
        "metadata": message.c.metadata,
    }
    return Fields(conn, columns)


def within(ref: SessionRef) -> sa.ColumnElement[bool]:
    """Return the condition that a message belongs to this session."""
    return sa.and_(message.c.workspace == ref.workspace, message.c.session == ref.session)


# --- writing ---------------------------------------------------------------------------------


def add(tx: Tx, ref: SessionRef, batch: Sequence[MessageCreate], *, now: datetime) -> Stored:
    """Store a batch behind all that the session holds; authors join it if they had not.

    Creates workspace, session and peers as needed. Raises ``NotFoundError`` for a deleted
    session.
    """
    sessions.ensure(tx, ref, now=now)
    authors = list(dict.fromkeys(each.peer_id for each in batch))
    members.add(tx, ref, dict.fromkeys(authors, Flags()), now=now)
    last = _reserve(tx, ref, len(batch))
    rows = [
        _row(ref, each, seq, now) for seq, each in enumerate(batch, start=last - len(batch) + 1)
    ]
    tx.conn.execute(sa.insert(message), rows)
    heard = _observe(tx, ref, batch, first=last - len(batch) + 1)
    return Stored([view(row) for row in rows], last, heard)


def _reserve(tx: Tx, ref: SessionRef, number: int) -> int:
    session = tables.session
    taken = sa.update(session).where(sessions.is_(ref))
    taken = taken.values(last_seq=session.c.last_seq + number)
    return int(tx.conn.execute(taken.returning(session.c.last_seq)).scalar_one())


def _row(ref: SessionRef, new: MessageCreate, seq: int, now: datetime) -> Json:
    created = now if new.created_at is None else new.created_at
    if created.tzinfo is None:
        created = created.replace(tzinfo=UTC)
    return {
        "public_id": new_id(),
        "workspace": ref.workspace,
        "session": ref.session,
        "seq": seq,
        "peer": new.peer_id,
        "content": new.content,
        "metadata": new.metadata or {},
        "token_count": token_count(new.content),
        "created_at": created.astimezone(UTC),
    }


def _observe(
    tx: Tx, ref: SessionRef, batch: Sequence[MessageCreate], *, first: int
) -> frozenset[str]:
    """Note who hears each message, as the flags are now; return whom somebody hears."""
    thinking = _is_reasoning_on(tx.conn, ref)
    heard = [seq for seq, each in enumerate(batch, start=first) if _is_heard(each, thinking)]
    if not heard:
        return frozenset()
    written = sa.select(message.c.id, message.c.peer).where(
        within(ref), message.c.seq >= first, message.c.seq.in_(heard)
    )
    rows = tx.conn.execute(written).tuples().all()
    hearers = members.observers(tx.conn, ref, {author for _, author in rows})
    wanted = {
        PairRef(ref.workspace, each, author) for author in hearers for each in hearers[author]
    }
    numbers = pairs.ensure(tx, wanted)
    noted = [
        {"pair": numbers[PairRef(ref.workspace, hearer, author)], "message": number}
        for number, author in rows
        for hearer in hearers[author]
    ]
    if noted:
        tx.conn.execute(sa.insert(tables.observation), noted)
    return frozenset(author for author, listening in hearers.items() if listening)


def _is_reasoning_on(conn: sa.Connection, ref: SessionRef) -> bool:
    for table, where in (
        (tables.session, sessions.is_(ref)),
        (tables.workspace, tables.workspace.c.id == ref.workspace),
    ):
        configuration = conn.execute(sa.select(table.c.configuration).where(where)).scalar_one()
        enabled = (configuration.get("reasoning") or {}).get("enabled")
        if enabled is not None:
            return bool(enabled)
    return True


def _is_heard(new: MessageCreate, default: bool) -> bool:
    reasoning = new.configuration.reasoning if new.configuration else None
    if reasoning is None or reasoning.enabled is None:
        return default
    return reasoning.enabled


def update(tx: Tx, ref: SessionRef, public_id: str, metadata: Json | None) -> Json:
    """Replace a message's metadata where it is given; return it. Raises ``NotFoundError``."""
    if metadata is not None:
        mine = sa.and_(within(ref), message.c.public_id == public_id)
        tx.conn.execute(sa.update(message).where(mine).values(metadata=metadata))
    return get(tx.conn, ref, public_id)


# --- reading ---------------------------------------------------------------------------------


def get(conn: sa.Connection, ref: SessionRef, public_id: str) -> Json:
    """Return one message of a session. Raises ``NotFoundError``."""
    query = sa.select(message).where(within(ref), message.c.public_id == public_id)
    row = conn.execute(query).mappings().first()
    if row is None:
        raise NotFoundError(f"Message {public_id} not found in session {ref.session}")
    return view(row)


def listed(conn: sa.Connection, ref: SessionRef, filters: Json | None, window: Window) -> Json:
    """Return a page of a session's messages in the order in which they were stored."""
    sessions.refuse_deleted(conn, ref)
    query = sa.select(message).where(within(ref), fields(conn).condition(filters))
    return page(conn, query.order_by(*direction(window, message.c.seq)), window, view)


def newest(conn: sa.Connection, ref: SessionRef, *, tokens: int, after: int = 0) -> list[Json]:
    """Return the newest messages after number ``after`` that fit, in their order."""
    query = sa.select(message).where(within(ref), message.c.seq > after)
    query = query.order_by(message.c.seq.desc()).execution_options(yield_per=200)
    with conn.execute(query) as rows:
        return [view(row) for row in _fitting(rows.mappings(), tokens)][::-1]


def _fitting(rows: sa.MappingResult, tokens: int) -> Iterator[sa.RowMapping]:
    for row in rows:
        tokens -= row["token_count"]
        if tokens < 0:
            return
        yield row
