"""The session map and the ledger: positions without gaps, each key once (H-46)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pytest
import sqlalchemy as sa

from gateway.model.errors import StoreError
from gateway.model.ids import ConversationKey, PeerId, SessionId, TurnId
from gateway.store import ledger, sessions
from gateway.store.ledger import Entry, LedgerState
from gateway.store.sessions import Conversation
from gateway.store.tables import conversation, session
from gateway.store.tables import ledger as table
from tests.contract.store.samples import (
    CONVERSATION,
    NOW,
    SESSION,
    TURN,
    event,
    later,
    open_session,
    say,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from gateway.store.engine import Store, Tx

MIRA = PeerId("mira")
SECOND = SessionId("telegram-700100200-5e6f7a8b")


async def _find(store: Store) -> Conversation | None:
    return await store.read(lambda conn: sessions.find(conn, CONVERSATION))


async def test_a_conversation_is_noted_once(store: Store) -> None:
    assert await _find(store) is None

    def fn(tx: Tx) -> None:
        sessions.note(tx, CONVERSATION, event(), participant="700100200", now=NOW)
        sessions.note(tx, CONVERSATION, event(place="other"), participant=None, now=later(1))

    await store.write(fn)
    assert await _find(store) == Conversation(CONVERSATION, None, None, "", 0, None)
    row = await store.read(lambda conn: conn.execute(sa.select(conversation)).one())
    assert (row.place, row.participant, row.created_at) == ("700100200", "700100200", NOW)


async def test_sessions_follow_each_other(store: Store) -> None:
    """H-08: a change of the peer closes the session and opens the next; nothing is lost."""
    await store.write(open_session)
    assert await _find(store) == Conversation(CONVERSATION, SESSION, MIRA, "", 1, None)
    closed = await store.write(
        lambda tx: sessions.close(tx, CONVERSATION, reason="identity", now=later(5))
    )
    assert closed == SESSION
    assert await _find(store) == Conversation(CONVERSATION, None, None, "", 1, None)
    again = await store.write(
        lambda tx: sessions.close(tx, CONVERSATION, reason="new", now=later(6))
    )
    assert again is None
    await store.write(
        lambda tx: sessions.open_next(
            tx, CONVERSATION, SECOND, peer=PeerId("700100200"), now=later(7)
        )
    )
    assert await _find(store) == Conversation(
        CONVERSATION, SECOND, PeerId("700100200"), "", 2, None
    )
    rows = await store.read(
        lambda conn: conn.execute(sa.select(session).order_by(session.c.ordinal)).all()
    )
    assert [(row.id, row.ordinal, row.peer, row.closed_at, row.close_reason) for row in rows] == [
        (SESSION, 1, "mira", later(5), "identity"),
        (SECOND, 2, "700100200", None, ""),
    ]


async def test_a_session_name_is_taken_once(store: Store) -> None:
    await store.write(open_session)
    with pytest.raises(StoreError):
        await store.write(
            lambda tx: sessions.open_next(tx, CONVERSATION, SESSION, peer=None, now=NOW)
        )
    assert await _find(store) == Conversation(CONVERSATION, SESSION, MIRA, "", 1, None)


async def test_activity_never_goes_back(store: Store) -> None:
    await store.write(open_session)
    for at in (later(5), NOW, later(4)):
        await store.write(partial(sessions.touch, key=CONVERSATION, now=at))
    await store.write(lambda tx: sessions.set_title(tx, CONVERSATION, "Отпуск"))
    known = await _find(store)
    assert known is not None
    assert (known.last_activity, known.title, known.session) == (later(5), "Отпуск", SESSION)


async def test_closing_what_is_not_there(store: Store) -> None:
    nowhere = ConversationKey("nowhere")
    assert await store.write(lambda tx: sessions.close(tx, nowhere, reason="new", now=NOW)) is None


def _entry(tx: Tx, text: str, role: str = "user", turn: str = TURN) -> Entry:
    return Entry(SESSION, MIRA, say(tx, text, role=role, turn=TurnId(turn), session=SESSION))


def _adding(text: str, state: LedgerState, *, skip: str = "") -> Callable[[Tx], None]:
    def fn(tx: Tx) -> None:
        ledger.add(tx, _entry(tx, text), state, skip=skip, now=later(1))

    return fn


async def test_rows_stand_in_order_without_gaps(store: Store) -> None:
    """H-46: the same message handed in by two writers is one row."""
    await store.write(open_session)
    entries = [await store.write(partial(_entry, text=f"m{number}")) for number in range(10)]
    writes = (
        store.write(partial(ledger.add, entry=entry, state=LedgerState.DUE, now=NOW))
        for entry in entries * 2
    )
    results = await asyncio.gather(*writes, return_exceptions=True)
    assert sum(isinstance(result, StoreError) for result in results) == 10
    seqs = await store.read(
        lambda conn: conn.execute(sa.select(table.c.seq).order_by(table.c.seq)).scalars().all()
    )
    assert list(seqs) == list(range(1, 11))
    assert await store.read(ledger.counts) == {"due": 10}


async def test_a_row_that_is_never_to_be_sent_is_settled_at_once(store: Store) -> None:
    await store.write(open_session)
    await store.write(_adding("k1", LedgerState.DUE, skip="disabled"))
    await store.write(_adding("k2", LedgerState.HELD))
    assert await store.read(lambda conn: ledger.of_turn(conn, TURN)) == [
        {"seq": 1, "role": "user", "peer": "mira", "state": "skipped", "reason": "disabled"},
        {"seq": 2, "role": "user", "peer": "mira", "state": "held", "reason": ""},
    ]


@pytest.mark.parametrize(
    ("settle", "state", "reason"),
    [
        (ledger.release, LedgerState.DUE, ""),
        (ledger.skip_undelivered, LedgerState.SKIPPED, "undelivered"),
    ],
    ids=["delivered", "given-up"],
)
async def test_only_a_held_answer_waits_for_its_delivery(
    store: Store, settle: Callable[[Tx, TurnId], None], state: LedgerState, reason: str
) -> None:
    def fn(tx: Tx) -> None:
        open_session(tx)
        ledger.add(tx, _entry(tx, "user"), LedgerState.DUE, now=NOW)
        ledger.add(tx, _entry(tx, "answer", "assistant"), LedgerState.HELD, now=NOW)
        ledger.add(tx, _entry(tx, "other", "assistant", "t_2"), LedgerState.HELD, now=NOW)
        settle(tx, TURN)
        ledger.skip_undelivered(tx, TURN)

    await store.write(fn)
    user, answer = await store.read(lambda conn: ledger.of_turn(conn, TURN))
    assert (user["state"], user["reason"]) == ("due", "")
    assert (answer["state"], answer["reason"]) == (state, reason)
    (other,) = await store.read(lambda conn: ledger.of_turn(conn, TurnId("t_2")))
    assert other["state"] == "held"


async def test_a_row_without_its_session_or_message_is_refused(store: Store) -> None:
    await store.write(open_session)

    def fn(tx: Tx, *, session: str, message: int | None) -> None:
        entry = _entry(tx, "k")
        entry = replace(entry, session=SessionId(session), message_id=message or entry.message_id)
        ledger.add(tx, entry, LedgerState.DUE, now=NOW)

    with pytest.raises(StoreError):
        await store.write(partial(fn, session="none", message=None))
    with pytest.raises(StoreError):
        await store.write(partial(fn, session=SESSION, message=999_999))
    assert await store.read(ledger.counts) == {}


async def test_history_follows_the_turns_and_leaves_out_what_was_never_said(store: Store) -> None:
    """A message that waited while an answer was written stands behind that answer."""

    def fn(tx: Tx) -> None:
        open_session(tx)
        words = ("one", "waited", "answer", "lost")
        turns_ = {"lost": "t_2"}
        entries = {word: _entry(tx, word, turn=turns_.get(word, TURN)) for word in words}
        ledger.add(tx, entries["one"], LedgerState.DUE, now=NOW)
        ledger.add(tx, entries["answer"], LedgerState.HELD, now=NOW)
        ledger.add(tx, entries["waited"], LedgerState.DUE, skip="saveMessages", now=NOW)
        ledger.add(tx, entries["lost"], LedgerState.HELD, now=NOW)
        ledger.skip_undelivered(tx, TurnId("t_2"))

    await store.write(fn)
    for limit, expected in ((400, ["one", "answer", "waited"]), (2, ["answer", "waited"])):
        said = await store.read(partial(ledger.history, session=SESSION, limit=limit))
        assert [one.text for one in said] == expected
    assert await store.read(partial(ledger.history, session=SessionId("none"))) == []
