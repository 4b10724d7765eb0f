"""Snapshots, writes that wait, and where a person can be asked, on both dialects."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pytest

from gateway.model.events import Place, PlaceKind
from gateway.model.ids import ConversationKey, PeerId, PlaceId, SessionId
from gateway.policy.audience import Audience
from gateway.store import approvals, questions, sessions, snapshots, turns
from gateway.store.approvals import APPROVED, Write
from gateway.store.people import Account
from gateway.store.questions import Question
from gateway.store.recall import RecallKey
from tests.contract.store import samples

if TYPE_CHECKING:
    from gateway.model.outbound import Address
    from gateway.store.engine import Connection, Store, Tx

MIRA = PeerId("mira")
KEY = RecallKey(samples.SESSION, MIRA, Audience.PERSONAL)
OTHERS = [
    KEY._replace(session=SessionId("other")),
    KEY._replace(peer=PeerId("tobias")),
    KEY._replace(audience=Audience.OPEN),
]


async def test_the_first_snapshot_stays(store: Store) -> None:
    def keep(tx: Tx) -> list[str]:
        samples.open_session(tx)
        return [snapshots.keep(tx, KEY, text, now=samples.NOW) for text in ("first", "second")]

    assert await store.write(keep) == ["first", "first"]
    assert await store.read(lambda conn: snapshots.load(conn, KEY)) == "first"


@pytest.mark.parametrize("other", OTHERS)
async def test_a_snapshot_is_one_persons_in_one_session(store: Store, other: RecallKey) -> None:
    await store.write(samples.open_session)
    await store.write(lambda tx: snapshots.keep(tx, KEY, "mine", now=samples.NOW))
    assert await store.read(lambda conn: snapshots.load(conn, other)) is None


async def test_snapshots_of_closed_sessions_go(store: Store) -> None:
    theirs = KEY._replace(peer=PeerId("tobias"))

    def close_and_go_on(tx: Tx) -> None:
        samples.open_session(tx)
        for key in (KEY, theirs):
            snapshots.keep(tx, key, "old", now=samples.NOW)
        sessions.close(tx, samples.CONVERSATION, reason="new", now=samples.NOW)
        snapshots.keep(tx, OTHERS[0], "", now=samples.NOW)

    await store.write(close_and_go_on)

    def left(conn: Connection) -> list[str | None]:
        return [snapshots.load(conn, key) for key in (KEY, OTHERS[0], theirs)]

    assert await store.read(left) == [None, "", "old"]


async def test_a_write_waits_until_it_is_decided(store: Store) -> None:
    first = Write(MIRA, "user", "add", "Plays chess")
    second = Write(PeerId("tobias"), "memory", "replace", "new", "old")

    def stage(tx: Tx) -> list[tuple[str, bool]]:
        return [
            approvals.stage(tx, write, now=samples.later(number))
            for number, write in enumerate((first, second, first))
        ]

    (one, new), (two, _), (again, fresh) = await store.write(stage)
    assert (one == again, new, fresh) == (True, True, False)
    waiting = await store.read(approvals.of)
    assert [each.write for each in waiting] == [first, second]
    assert waiting[0].asked_at == samples.NOW
    mine = await store.read(lambda conn: approvals.of(conn, MIRA))
    assert [each.id for each in mine] == [one]
    assert await store.read(lambda conn: approvals.find(conn, two, MIRA)) is None
    await store.write(lambda tx: approvals.decide(tx, one, APPROVED, now=samples.NOW))
    assert [each.id for each in await store.read(approvals.of)] == [two]
    assert (await store.write(stage))[0][1], "the same may be asked for again later"


async def test_a_person_is_asked_where_they_last_wrote_alone(store: Store) -> None:
    group = samples.turn(
        "t_2",
        conversation=ConversationKey("group"),
        session=SessionId("group"),
        address=replace(samples.ADDRESS, place=PlaceId("-100")),
    )
    stranger = replace(group, account=group.account._replace(user_id="700999999"))

    def write(tx: Tx) -> None:
        samples.open_session(tx)
        event = samples.event()
        event = replace(event, place=Place(PlaceKind.GROUP, PlaceId("-100")))
        sessions.note(tx, group.conversation, event, participant=None, now=samples.NOW)
        samples.claim(tx, samples.turn())
        samples.claim(tx, group)

    await store.write(write)

    def ask(conn: Connection) -> list[Address | None]:
        return [turns.direct_address(conn, each) for each in (group, stranger)]

    assert await store.read(ask) == [samples.ADDRESS, None]


async def test_a_question_is_answered_once_and_then_forgotten(store: Store) -> None:
    account = Account("slack", "T0BROOK", "U0MIRA0001")
    new = Question("memory", "k7", account, "ru", "Shall I?")
    asked = await store.write(lambda tx: questions.add(tx, new, now=samples.NOW))
    assert await store.read(lambda conn: questions.find(conn, asked.id)) == asked
    assert await store.read(lambda conn: questions.find(conn, "other")) is None
    for number, answer in enumerate(("yes", "no"), 1):
        close = partial(questions.close, id_=asked.id, answer=answer, now=samples.later(number))
        await store.write(close)
    closed = await store.read(lambda conn: questions.find(conn, asked.id))
    assert closed == replace(asked, answer="yes", words="")
    for second, gone in ((1, 0), (2, 1)):
        before = samples.later(second)
        forget = partial(questions.forget_answered, before=before)
        assert await store.write(forget) == gone
