"""Inbound events. Their keys outlive their texts, so that a redelivery stays silent."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from gateway.model.events import EventKind
from gateway.store import codec, erased, statements
from gateway.store.tables import inbox, message, set_aside

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from gateway.model.events import InboundEvent
    from gateway.model.ids import AccountId, ConversationKey, PlatformName, TurnId
    from gateway.ports import Received
    from gateway.store.engine import Tx


#: how far the platform's clock may be behind or before ours
_CLOCKS_APART = timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class InboxRow:
    """An admitted event as it waits for its turn."""

    id: int
    event: InboundEvent
    conversation: ConversationKey
    message_id: int
    turn: TurnId | None
    received_at: datetime


def receive(tx: Tx, event: InboundEvent, *, now: datetime) -> int | None:
    """Claim an event's key and return its row id; None when it came before, erased or not.

    The row holds no text and nothing of the sender until ``admit`` adds them.
    """
    if erased.known(tx.conn, event):
        return None
    statement = statements.insert(tx.conn, inbox).values(
        platform=event.platform,
        account=event.account,
        place=event.place.id,
        message=event.message,
        revision=event.revision,
        kind=event.kind,
        state="received",
        sent_at=event.sent_at,
        received_at=now,
    )
    key = ["platform", "account", "place", "message", "revision"]
    return tx.conn.execute(
        statement.on_conflict_do_nothing(index_elements=key).returning(inbox.c.id)
    ).scalar_one_or_none()


def conclude(tx: Tx, row: int, *, state: str, reason: str = "") -> None:
    """Say what became of an event that needs nothing more."""
    tx.conn.execute(sa.update(inbox).where(inbox.c.id == row).values(state=state, reason=reason))


def admit(
    tx: Tx,
    row: int,
    event: InboundEvent,
    conversation: ConversationKey,
    *,
    message_id: int,
    raw: bytes,
) -> None:
    """Keep an admitted event whole: its place in a conversation, its sender, its payload."""
    tx.conn.execute(
        sa.update(inbox)
        .where(inbox.c.id == row)
        .values(
            state="admitted",
            conversation=conversation,
            message_id=message_id,
            event=codec.event_to_json(event),
            raw=zlib.compress(raw) if raw else None,
        )
    )


def load(conn: sa.Connection, row: int) -> InboxRow:
    """Return an admitted event."""
    found = conn.execute(_admitted().where(inbox.c.id == row)).one()
    return _row(found)


def peek(conn: sa.Connection, row: int) -> InboxRow | None:
    """Return an admitted event, None where it was erased since."""
    found = conn.execute(_admitted().where(inbox.c.id == row)).first()
    return None if found is None else _row(found)


def of_turn(conn: sa.Connection, turn: TurnId) -> list[InboxRow]:
    """Return a turn's events in the order they came; none of a turn that is long done."""
    kept = (inbox.c.turn == turn, inbox.c.event.is_not(None))
    rows = conn.execute(_admitted().where(*kept).order_by(inbox.c.id))
    return [_row(found) for found in rows]


def newest_of_turn(conn: sa.Connection, turn: TurnId) -> datetime | None:
    """Return when the newest of a turn's events reached us."""
    return conn.execute(
        sa.select(sa.func.max(inbox.c.received_at)).where(inbox.c.turn == turn)
    ).scalar()


def assign(tx: Tx, rows: Iterable[int], turn: TurnId) -> None:
    """Make events part of a turn."""
    tx.conn.execute(
        sa.update(inbox).where(inbox.c.id.in_(list(rows))).values(turn=turn, state="turn")
    )


def _admitted() -> sa.Select[Any]:
    return sa.select(inbox, message.c.text).join(message, message.c.id == inbox.c.message_id)


def _row(found: sa.Row[Any]) -> InboxRow:
    return InboxRow(
        id=found.id,
        event=codec.event_from_json(found.event, found.text),
        conversation=found.conversation,
        message_id=found.message_id,
        turn=found.turn,
        received_at=found.received_at,
    )


def spoken(
    conn: sa.Connection, event: InboundEvent, *, since: datetime, here: bool
) -> list[datetime]:
    """Return when the event's sender said what was kept, after ``since`` by the platform's time.

    ``here``: what was said to this account in this place, and no edits. Senders without an id
    count as one.
    """
    sender = inbox.c.event["sender"]
    found = _lately(event, since).where(
        sa.func.coalesce(sender["id"].as_string(), "") == (event.sender.id or ""),
        sa.func.coalesce(sender["scope"].as_string(), "") == (event.sender.scope or ""),
        inbox.c.event.is_not(None),
        inbox.c.kind != EventKind.PRESS,
    )
    if here:
        found = found.where(_in_place(event), inbox.c.kind == EventKind.MESSAGE)
    return list(conn.execute(found).scalars())


def refused(
    conn: sa.Connection, event: InboundEvent, *, since: datetime, reason: str
) -> list[datetime]:
    """Return when events of this place were sent that were refused for ``reason``."""
    found = _lately(event, since).where(_in_place(event), inbox.c.reason == reason)
    return list(conn.execute(found).scalars())


def _lately(event: InboundEvent, since: datetime) -> sa.Select[tuple[datetime]]:
    # Nothing arrives long before it was sent, and arrivals are what the index knows.
    return sa.select(inbox.c.sent_at).where(
        inbox.c.received_at > since - _CLOCKS_APART,
        inbox.c.sent_at > since,
        inbox.c.platform == event.platform,
    )


def _in_place(event: InboundEvent) -> sa.ColumnElement[bool]:
    return sa.and_(inbox.c.account == event.account, inbox.c.place == event.place.id)


def put_aside(
    tx: Tx, account: tuple[PlatformName, AccountId], received: Received, *, now: datetime
) -> bool:
    """Keep an update that could not be parsed; False when it was kept before."""
    statement = statements.insert(tx.conn, set_aside).values(
        platform=account[0],
        account=account[1],
        number=received.update,
        fault=received.fault,
        raw=zlib.compress(received.raw),
        received_at=now,
    )
    key = ["platform", "account", "number"]
    added = statement.on_conflict_do_nothing(index_elements=key).returning(set_aside.c.id)
    return tx.conn.execute(added).scalar_one_or_none() is not None


def set_aside_count(conn: sa.Connection) -> int:
    """Return how many updates wait for an operator's look."""
    return statements.count(conn, set_aside)


def drop_raw(tx: Tx, *, before: datetime, limit: int = 1000) -> int:
    """Drop raw payloads received before ``before``; returns how many."""
    old = (
        sa.select(inbox.c.id)
        .where(inbox.c.raw.is_not(None), inbox.c.received_at < before)
        .limit(limit)
    )
    return tx.conn.execute(sa.update(inbox).where(inbox.c.id.in_(old)).values(raw=None)).rowcount
