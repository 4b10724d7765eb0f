"""The ledger as its writer sees it, on both dialects."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gateway.mailbox import items
from gateway.model.ids import PeerId, SessionId, TurnId
from gateway.model.memory import Observation
from gateway.store import ledger, members, messages, sending, sessions
from gateway.store.ledger import LedgerState
from tests.contract.store.samples import (
    CONVERSATION,
    NOW,
    SESSION,
    claim,
    later,
    open_session,
    say,
    turn,
)

if TYPE_CHECKING:
    from gateway.store.engine import Connection, Store, Tx

DUE, HELD = LedgerState.DUE, LedgerState.HELD
FRESH = SessionId("fresh")


async def fill(store: Store, *states: LedgerState) -> None:
    """Write one turn for each state: a row of that state."""

    def write(tx: Tx) -> None:
        open_session(tx)
        for number, state in enumerate(states, 1):
            add(tx, number, state)

    await store.write(write)


def add(tx: Tx, number: int, state: LedgerState, *, session: SessionId = SESSION) -> None:
    turn_id = TurnId(f"t{number}")
    if number == 1:
        claim(tx, turn(turn_id))
    said = say(tx, f"text {number}", at=later(number), session=session, turn=turn_id)
    entry = ledger.Entry(session, PeerId("mira"), said)
    ledger.add(tx, entry, state, now=later(number))


def rows(conn: Connection, name: SessionId = SESSION) -> list[sending.Row]:
    return sending.open_rows(conn, name, limit=100)


def index(conn: Connection) -> int:
    return sessions.listed(conn)[0].last_saved_index


async def test_open_rows_come_in_order_with_all_that_is_needed(store: Store) -> None:
    await fill(store, DUE, HELD, DUE)
    first, held, third = await store.read(rows)
    assert (first.key, first.text, first.rung, first.sent_at) == (
        f"t1-m{first.message_id}",
        "text 1",
        "alias",
        later(1),
    )
    assert (held.state, third.rung, third.attempts, third.look_at) == (HELD, "", 0, None)
    assert isinstance(first.state, LedgerState)
    assert len(await store.read(lambda conn: sending.open_rows(conn, SESSION, limit=2))) == 2


async def test_a_row_in_flight_keeps_the_limit_of_its_first_send(store: Store) -> None:
    await fill(store, DUE, DUE)
    first, second = await store.read(rows)
    await store.write(lambda tx: sending.begin(tx, [first], part_limit=100, look_at=later(8)))
    await store.write(lambda tx: sending.look_later(tx, SESSION, look_at=later(30)))
    in_flight, _ = await store.read(rows)
    assert (in_flight.state, in_flight.look_at) == (LedgerState.SENDING, later(30))
    await store.write(lambda tx: sending.take_back(tx, SESSION, in_vain=True))
    again = [first, second]
    await store.write(lambda tx: sending.begin(tx, again, part_limit=200, look_at=later(9)))
    found = await store.read(rows)
    assert [(row.part_limit, row.attempts) for row in found] == [(100, 1), (200, 0)]
    await store.write(lambda tx: sending.take_back(tx, SESSION, in_vain=False))
    assert [row.attempts for row in await store.read(rows)] == [1, 0]


async def test_the_saved_position_is_that_of_the_last_settled_row(store: Store) -> None:
    await fill(store, DUE, DUE, HELD, DUE)
    first, second, _, fourth = await store.read(rows)
    assert await store.read(index) == 0
    await store.write(lambda tx: sending.settle(tx, SESSION, [second], LedgerState.SAVED))
    assert await store.read(index) == 0
    assert await store.read(lambda conn: sending.overtaken(conn, SESSION, first.seq))
    await store.write(
        lambda tx: sending.settle(tx, SESSION, [first], LedgerState.PARKED, reason="refused")
    )
    assert await store.read(index) == 2
    assert await store.write(lambda tx: ledger.release(tx, TurnId("t3"))) == SESSION
    assert await store.write(lambda tx: ledger.release(tx, TurnId("t3"))) is None
    assert await store.read(index) == 2
    rest = [row for row in await store.read(rows) if row.seq == 3] + [fourth]
    await store.write(lambda tx: sending.settle(tx, SESSION, rest, LedgerState.SAVED))
    assert await store.read(index) == 4
    assert await store.write(sessions.repair_indexes) == []


async def test_an_undelivered_answer_moves_the_position(store: Store) -> None:
    await fill(store, HELD)
    assert await store.write(lambda tx: ledger.skip_undelivered(tx, TurnId("t1"))) == SESSION
    assert await store.read(index) == 1


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ([], (0, None)),
        ([HELD], (0, None)),
        ([DUE, DUE], (2, later(2))),
        ([DUE, HELD, DUE], (1, later(1))),
    ],
)
async def test_what_waits(
    store: Store, states: list[LedgerState], expected: tuple[int, object]
) -> None:
    await fill(store, *states)
    assert await store.read(lambda conn: sending.turns_waiting(conn, SESSION)) == expected


async def test_a_turn_whose_answer_is_held_does_not_count(store: Store) -> None:
    await fill(store, DUE, DUE)

    def held(tx: Tx) -> None:
        said = say(tx, role=messages.ASSISTANT, session=SESSION, turn=TurnId("t2"))
        entry = ledger.Entry(SESSION, PeerId("a"), said)
        ledger.add(tx, entry, HELD, now=NOW)

    await store.write(held)
    turns_, last = await store.read(lambda conn: sending.turns_waiting(conn, SESSION))
    assert (turns_, last) == (1, later(2))
    assert await store.read(lambda conn: ledger.unsettled(conn, TurnId("t2")))
    assert not await store.read(lambda conn: ledger.unsettled(conn, TurnId("t9")))


async def test_sessions_that_nobody_looks_after(store: Store) -> None:
    await fill(store, DUE)
    (found,) = await store.read(lambda conn: sending.unasked(conn, "memory"))
    assert (found.id, found.closed_at, found.peer) == (SESSION, None, "mira")
    assert await store.read(sending.sessions_with_rows) == [SESSION]
    await store.write(
        lambda tx: items.insert(tx, "memory", SESSION, dedupe="1", payload={}, now=NOW)
    )
    assert await store.read(lambda conn: sending.unasked(conn, "memory")) == []


async def test_a_lost_session_is_replaced_and_its_open_rows_move(store: Store) -> None:
    await fill(store, DUE, HELD, DUE)
    (first, *_) = await store.read(rows)

    def replaced(tx: Tx) -> None:
        sending.begin(tx, [first], part_limit=100, look_at=later(8))
        gone = sending.record(tx.conn, SESSION)
        assert gone is not None
        sending.supersede(tx, gone, FRESH, now=later(60))
        sending.move_rows(tx, SESSION, FRESH)

    await store.write(replaced)
    moved = await store.read(lambda conn: rows(conn, FRESH))
    assert [(row.text, row.seq, row.state) for row in moved] == [
        ("text 1", 1, DUE),
        ("text 2", 2, HELD),
        ("text 3", 3, DUE),
    ]
    fresh, old = await store.read(sessions.listed)
    assert (fresh.session, fresh.open, fresh.last_saved_index) == (FRESH, True, 0)
    assert (old.open, old.close_reason, old.replaced_by) == (False, "gone", FRESH)
    assert old.last_saved_index == 3
    known = await store.read(lambda conn: sessions.find(conn, CONVERSATION))
    assert known is not None
    assert (known.session, known.sessions) == (FRESH, 2)
    assert await store.read(lambda conn: sending.replaces(conn, FRESH))
    assert not await store.read(lambda conn: sending.replaces(conn, SESSION))


async def test_a_lost_session_that_was_closed_leaves_the_open_one_alone(store: Store) -> None:
    await fill(store, DUE)
    following = SessionId("following")

    def replaced(tx: Tx) -> None:
        sessions.close(tx, CONVERSATION, reason="command", now=later(10))
        sessions.open_next(tx, CONVERSATION, following, peer=None, now=later(20))
        gone = sending.record(tx.conn, SESSION)
        assert gone is not None
        sending.supersede(tx, gone, FRESH, now=later(60))
        sending.move_rows(tx, SESSION, FRESH)

    await store.write(replaced)
    known = await store.read(lambda conn: sessions.find(conn, CONVERSATION))
    assert known is not None
    assert known.session == following
    states = {each.session: each for each in await store.read(sessions.listed)}
    assert (states[SESSION].close_reason, states[FRESH].close_reason) == ("command", "gone")
    assert not states[FRESH].open


async def test_members_are_kept_as_the_service_has_them(store: Store) -> None:
    await fill(store)
    mira, agent = PeerId("mira"), PeerId("hermes")
    flags = {mira: Observation(True, False), agent: Observation(None, True)}
    await store.write(lambda tx: members.note(tx, SESSION, flags, now=NOW))
    changed = {mira: Observation(False, False)}
    await store.write(lambda tx: members.note(tx, SESSION, changed, now=later(1)))
    assert await store.read(lambda conn: members.of(conn, SESSION)) == {**flags, **changed}
    assert await store.read(lambda conn: members.of(conn, FRESH)) == {}


async def test_the_summary_counts_what_is_not_saved(store: Store) -> None:
    await fill(store, DUE, DUE, HELD)
    found = await store.read(sending.summary)
    assert [(row.session, row.state, row.reason, row.rows, row.oldest) for row in found] == [
        (SESSION, "due", "", 2, later(1)),
        (SESSION, "held", "", 1, later(3)),
    ]
    (listed,) = await store.read(lambda conn: sessions.listed(conn, of=CONVERSATION))
    assert (listed.session, listed.messages, listed.peer) == (SESSION, 3, "mira")
    assert await store.read(lambda conn: sessions.listed(conn, of="nowhere")) == []
