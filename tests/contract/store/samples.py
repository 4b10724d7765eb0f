"""Values that the suites of the store write, with one telling id each."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from gateway.model.events import EventKind, InboundEvent, Place, PlaceKind, Sender, SenderKind
from gateway.model.ids import (
    AccountId,
    ConversationKey,
    MessageId,
    PeerId,
    PlaceId,
    PlatformName,
    SessionId,
    TurnId,
    UserId,
)
from gateway.model.outbound import Address
from gateway.store import messages, sending, sessions, turns
from gateway.store.people import Account

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gateway.model.turn import TurnState
    from gateway.store.engine import Tx

NOW = datetime(2026, 11, 29, 12, 0, 0, 123456, tzinfo=UTC)
TELEGRAM = PlatformName("telegram")
BOT = AccountId("111")
CHAT = PlaceId("700100200")
CONVERSATION = ConversationKey("telegram/111/700100200")
SESSION = SessionId("telegram-700100200-1a2b3c4d")
TURN = TurnId("t_000000001aaaaaaaaaaa")
ADDRESS = Address(TELEGRAM, BOT, CHAT)

#: ids that a number, a float or a trimmed text would change
IDS = [
    "812345678901234567",
    "18446744073709551615",
    "007001",
    "-1005550001112",
    "1e5",
    "0x10",
    "1.0",
    "true",
    "null",
    " 42 ",
    "W0ABC",
    "İd-ß-ид-号",
]


def later(seconds: float) -> datetime:
    """Return ``NOW`` moved by some seconds."""
    return NOW + timedelta(seconds=seconds)


def event(message: str = "7", *, place: str = CHAT, account: str = BOT) -> InboundEvent:
    """Return a direct message of Mira's."""
    return InboundEvent(
        kind=EventKind.MESSAGE,
        platform=TELEGRAM,
        account=AccountId(account),
        place=Place(PlaceKind.DIRECT, PlaceId(place)),
        message=MessageId(message),
        sender=Sender(SenderKind.PERSON, UserId("700100200"), name="Mira"),
        sent_at=NOW,
        text="What do you know?",
    )


def turn(turn_id: str = TURN, **changes: object) -> turns.Turn:
    """Return a turn that was just claimed."""
    new = turns.Turn(
        id=TurnId(turn_id),
        conversation=CONVERSATION,
        session=SESSION,
        peer=PeerId("mira"),
        rung="alias",
        identity={"peer": "mira", "steps": [{"rung": "alias", "key": "telegram:700100200"}]},
        address=ADDRESS,
        account=Account("telegram", "", "700100200"),
        reply_to=MessageId("7"),
        language="ru",
    )
    return replace(new, **changes)  # type: ignore[arg-type]  # tests name the fields


def say(
    tx: Tx,
    text: str = "What do you know?",
    *,
    role: str = messages.USER,
    at: datetime = NOW,
    **where: object,
) -> int:
    """Store a message, of the person's where nothing else is said."""
    said = messages.Said(0, role, "Mira", text, at)
    return messages.add(tx, said, **where)  # type: ignore[arg-type]


def open_session(tx: Tx, *, peer: str | None = "mira") -> None:
    """Make the conversation and its first memory session."""
    sessions.note(tx, CONVERSATION, event(), participant=None, now=NOW)
    sessions.open_next(
        tx, CONVERSATION, SESSION, peer=None if peer is None else PeerId(peer), now=NOW
    )


def claim(tx: Tx, new: turns.Turn, *, now: datetime = NOW) -> None:
    """Store a turn; its conversation and session are made where they are not there."""
    sessions.note(tx, new.conversation, event(), participant=None, now=NOW)
    if sending.record(tx.conn, new.session) is None:
        sessions.open_next(tx, new.conversation, new.session, peer=new.peer, now=NOW)
    turns.create(tx, new, now=now)


def take_to(tx: Tx, states: Iterable[TurnState], *, turn_id: TurnId = TURN) -> None:
    """Take a turn through states."""
    for state in states:
        turns.advance(tx, turn_id, state, now=NOW)
