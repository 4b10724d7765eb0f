"""Events are stored once, whole where admitted, and give back exactly what came in."""

from __future__ import annotations

import dataclasses
from datetime import timedelta, timezone
from typing import TYPE_CHECKING

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from gateway.model.events import (
    Attachment,
    AttachmentKind,
    Command,
    EventKind,
    Forward,
    InboundEvent,
    Place,
    PlaceKind,
    ReplyRef,
    Sender,
    SenderKind,
)
from gateway.model.ids import (
    AccountId,
    MessageId,
    PlaceId,
    PlatformName,
    ScopeId,
    ThreadId,
    UserId,
)
from gateway.ports import Received
from gateway.store import codec, inbox, messages, sessions
from gateway.store.tables import inbox as table
from gateway.store.tables import message, set_aside
from tests.contract.store.samples import (
    BOT,
    CONVERSATION,
    IDS,
    NOW,
    SESSION,
    TELEGRAM,
    TURN,
    event,
    later,
    open_session,
    say,
)

if TYPE_CHECKING:
    from gateway.store.engine import Store, Tx

FULL = InboundEvent(
    kind=EventKind.MESSAGE,
    platform=PlatformName("slack"),
    account=AccountId("A0"),
    place=Place(
        PlaceKind.CHANNEL, PlaceId("C0"), ThreadId("1700000000.000100"), PlaceId("C9"), "general"
    ),
    message=MessageId("1700000000.000200"),
    sender=Sender(
        SenderKind.PERSON, UserId("U0"), ScopeId("T0"), (UserId("W0"),), "Мира 🙂", "ru", ("dev",)
    ),
    sent_at=NOW,
    text="said",
    revision="2",
    mentions_bot=True,
    command=Command("memory", "show me"),
    reply=ReplyRef(MessageId("007"), True, "bot", "quoted words", "words"),
    forward=Forward("forwarded", "somebody"),
    attachments=(Attachment(AttachmentKind.VOICE, "file-1", "a.ogg", "audio/ogg", 812345),),
    album="13",
    moved_to=PlaceId("-1005550004444"),
    joinable=False,
    detail="service_type",
)


def _receive(tx: Tx, new: InboundEvent) -> int | None:
    return inbox.receive(tx, new, now=NOW)


def _admit(tx: Tx, new: InboundEvent, raw: bytes = b"raw") -> int:
    row = _receive(tx, new)
    assert row is not None
    said = say(tx, new.text)
    inbox.admit(tx, row, new, CONVERSATION, message_id=said, raw=raw)
    return row


@pytest.mark.parametrize("change", ["platform", "account", "place", "message", "revision"])
async def test_a_key_is_taken_once_and_every_part_of_it_counts(store: Store, change: str) -> None:
    """H-19: two bots, one user, equal message numbers are two messages."""
    first = event("7")
    value = Place(PlaceKind.GROUP, PlaceId("-1005550001112")) if change == "place" else "222"
    other = dataclasses.replace(first, **{change: value})  # type: ignore[arg-type]  # by name
    rows = await store.write(lambda tx: [_receive(tx, one) for one in (first, other)])
    assert None not in rows
    assert len(set(rows)) == 2
    again = await store.write(lambda tx: [_receive(tx, one) for one in (other, first)])
    assert again == [None, None]


async def test_a_key_of_a_transaction_that_failed_is_free_again(store: Store) -> None:
    def fails(tx: Tx) -> None:
        _receive(tx, event())
        raise LookupError

    with pytest.raises(LookupError):
        await store.write(fails)
    assert await store.write(lambda tx: _receive(tx, event())) is not None


async def test_a_refused_event_keeps_nothing_of_what_was_said(store: Store) -> None:
    row = await store.write(lambda tx: _receive(tx, FULL))
    assert row is not None
    await store.write(lambda tx: inbox.conclude(tx, row, state="refused", reason="not_allowed"))
    stored = await store.read(lambda conn: conn.execute(sa.select(table)).one()._asdict())
    assert stored | {"id": 0} == {
        "id": 0,
        "platform": "slack",
        "account": "A0",
        "place": "C0",
        "message": "1700000000.000200",
        "revision": "2",
        "kind": "message",
        "state": "refused",
        "reason": "not_allowed",
        "conversation": None,
        "turn": None,
        "message_id": None,
        "event": None,
        "raw": None,
        "sent_at": NOW,
        "received_at": NOW,
    }


@pytest.mark.parametrize("new", [FULL, event()], ids=["full", "sparse"])
async def test_an_admitted_event_comes_back_as_it_was(store: Store, new: InboundEvent) -> None:
    row = await store.write(lambda tx: _admit(tx, new))
    loaded = await store.read(lambda conn: inbox.load(conn, row))
    assert (loaded.event, loaded.event.detail) == (new, new.detail)
    assert (loaded.conversation, loaded.turn, loaded.received_at) == (CONVERSATION, None, NOW)


async def test_text_stands_once(store: Store) -> None:
    new = dataclasses.replace(event(), text="only in one place")
    await store.write(lambda tx: _admit(tx, new))
    inside = await store.read(lambda conn: conn.execute(sa.select(table.c.event)).scalar())
    assert inside is not None
    assert "text" not in inside


async def test_ids_stay_exact_text(store: Store) -> None:
    """H-02: no id passes through a number on its way to the disk and back."""
    events = [
        dataclasses.replace(
            event(value, place=value, account=value),
            sender=Sender(SenderKind.PERSON, UserId(value), ScopeId(value), (UserId(value),)),
        )
        for value in IDS
    ]
    rows = await store.write(lambda tx: [_admit(tx, new) for new in events])
    loaded = await store.read(lambda conn: [inbox.load(conn, row).event for row in rows])
    assert loaded == events
    columns = (table.c.account, table.c.place, table.c.message)
    stored = await store.read(
        lambda conn: conn.execute(sa.select(*columns).order_by(table.c.id)).all()
    )
    assert [tuple(row) for row in stored] == [(value, value, value) for value in IDS]


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0")))
def test_the_codec_keeps_every_character(text: str) -> None:
    new = dataclasses.replace(
        event(text), text=text, reply=ReplyRef(MessageId(text), text=text), revision=text
    )
    stored = codec.event_to_json(new)
    assert codec.event_from_json(stored, text) == new


def test_times_of_every_zone_are_stored_as_one() -> None:
    there = NOW.astimezone(timezone(timedelta(hours=5, minutes=45)))
    stored = codec.event_to_json(dataclasses.replace(event(), sent_at=there))
    assert codec.event_from_json(stored, "").sent_at == NOW


def test_rows_of_an_earlier_version_are_readable() -> None:
    old = {
        "kind": "message",
        "platform": "telegram",
        "account": "111",
        "place": {"kind": "direct", "id": "42"},
        "message": "7",
        "sender": {"kind": "person"},
        "sent_at": "2026-11-29T12:00:00.123456Z",
    }
    read = codec.event_from_json(old, "hello")
    assert (read.text, read.sent_at, read.sender.id, read.joinable) == ("hello", NOW, None, True)


async def test_events_of_a_turn_come_in_order(store: Store) -> None:
    def fn(tx: Tx) -> list[int]:
        rows = [_admit(tx, event(message)) for message in ("9", "10", "8")]
        inbox.assign(tx, reversed(rows[:2]), TURN)
        return rows

    rows = await store.write(fn)
    found = await store.read(lambda conn: inbox.of_turn(conn, TURN))
    assert [(row.id, row.event.message, row.turn) for row in found] == [
        (rows[0], "9", TURN),
        (rows[1], "10", TURN),
    ]


async def test_what_cannot_be_parsed_is_set_aside_once(store: Store) -> None:
    keys = [("900", BOT), ("900", BOT), ("901", BOT), ("900", AccountId("222"))]

    def fn(tx: Tx) -> list[bool]:
        return [
            inbox.put_aside(tx, (TELEGRAM, account), Received(b"{broken", number), now=NOW)
            for number, account in keys
        ]

    assert await store.write(fn) == [True, False, True, True]
    assert await store.read(inbox.set_aside_count) == 3
    raw = await store.read(lambda conn: conn.execute(sa.select(set_aside.c.raw)).scalars().first())
    assert raw is not None
    assert raw != b"{broken"  # compressed, never plain


async def test_old_payloads_go_and_their_rows_stay(store: Store) -> None:
    def fn(tx: Tx) -> None:
        for number in ("1", "2", "3"):
            _admit(tx, event(number))
        _admit(tx, event("4"), raw=b"")

    await store.write(fn)
    drops = [(NOW, 10), (later(1), 2), (later(1), 2), (later(1), 2)]
    dropped = await store.write(
        lambda tx: [inbox.drop_raw(tx, before=at, limit=most) for at, most in drops]
    )
    assert dropped == [0, 2, 1, 0]
    assert await store.write(lambda tx: _receive(tx, event("1"))) is None


async def test_a_message_keeps_its_time_and_text(store: Store) -> None:
    text = "a\r\n\tb \ufffe ​ 🙂 你好"
    await store.write(open_session)
    identity = await store.write(lambda tx: say(tx, text))
    await store.write(lambda tx: messages.belong(tx, [identity], session=SESSION, turn=TURN))
    columns = (*message.c, sessions.name_of(message.c.session_number).label("session"))
    row = await store.read(lambda conn: conn.execute(sa.select(*columns)).one())
    assert (row.text, row.author, row.session, row.turn) == (text, "Mira", SESSION, TURN)
    assert row.sent_at == NOW
