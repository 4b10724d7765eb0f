"""A person goes out of the database and nobody else does, on both dialects."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import sqlalchemy as sa

from gateway.model.events import ReplyRef
from gateway.model.ids import MessageId, PeerId, UserId
from gateway.store import (
    audit,
    erased,
    erasing,
    inbox,
    messages,
    people,
    search,
    statements,
    testament,
)
from gateway.store.estate import Estate, holdings
from gateway.store.people import Account
from gateway.store.tables import ledger, message, session, turn
from tests.contract.store.samples import CONVERSATION, NOW, event
from tests.contract.store.talk import Talk

if TYPE_CHECKING:
    from gateway.model.events import InboundEvent
    from gateway.store.engine import Connection, Store, Tx

MIRA = Account("telegram", "", "42")
ESTATE = Estate(frozenset({PeerId("mira")}), (MIRA,))
OTHER = Estate(frozenset({PeerId("tobias")}), ())


def _receive(tx: Tx, one: InboundEvent, text: str) -> int:
    row = inbox.receive(tx, one, now=NOW)
    assert row is not None
    said = messages.Said(0, messages.COMMAND, "", text, NOW)
    kept = messages.add(tx, said)
    inbox.admit(tx, row, one, CONVERSATION, message_id=kept, raw=text.encode())
    return row


def _from(user: str, number: str) -> InboundEvent:
    one = event()
    sender = replace(one.sender, id=UserId(user), scope=None)
    return replace(one, sender=sender, message=MessageId(number))


async def _filled(store: Store) -> Talk:
    talk = await Talk(store).open()
    await talk.say("The otter is back", answer="Lovely!", peer="mira")
    await talk.say("An otter of mine", answer="Fine", peer="tobias")

    def fill(tx: Tx) -> None:
        people.seen(tx, MIRA, name="Mira", language="", now=NOW)
        people.grant(tx, MIRA, admin=False, by="cli", now=NOW)
        audit.record(tx, "pairing.approved", actor="cli", subject="telegram:42", now=NOW)
        mine = _from("42", "1")
        _receive(tx, mine, "/title otters")
        answer = replace(
            _from("99", "2"),
            reply=ReplyRef(mine.message, author="Mira", text="the otters", quote="otters"),
        )
        _receive(tx, answer, "/title ships")

    await store.write(fill)
    return talk


def _texts(conn: Connection) -> list[str]:
    return list(conn.execute(sa.select(message.c.text).order_by(message.c.id)).scalars())


async def test_what_is_counted_and_read_out_is_one_persons(store: Store) -> None:
    await _filled(store)
    counts = await store.read(lambda conn: holdings(conn, ESTATE))
    assert (counts.turns, counts.messages, len(counts.shared_sessions)) == (1, 3, 1)
    read = await store.read(lambda conn: testament.read(conn, ESTATE))
    assert [row["text"] for row in read["messages"]] == [
        "The otter is back",
        "Lovely!",
        "/title otters",
    ]
    assert [row["user_id"] for row in read["accounts"]] == ["42"]
    assert len(read["grants"]) == 1


async def test_erasing_leaves_the_others_whole_and_a_redelivery_silent(store: Store) -> None:
    talk = await _filled(store)

    def erase(tx: Tx) -> int:
        plan, anew = erasing.erase(tx, ESTATE, grants=True, now=NOW)
        erasing.begin(tx, "e1", plan, by="cli", now=NOW)
        audit.forget_person(tx, ESTATE.names)
        assert search.fill(tx, limit=99) == 2
        return len(anew)

    assert await store.write(erase) == 1
    assert await store.read(_texts) == ["An otter of mine", "Fine", "/title ships"]
    assert await talk.find("otter") == []
    assert (await store.read(search.check)).sound
    assert await store.read(lambda conn: people.grant_of(conn, MIRA)) == (False, False)
    assert (await store.read(audit.check)).problem == ""

    def again(tx: Tx) -> tuple[int | None, bool]:
        return inbox.receive(tx, _from("42", "1"), now=NOW), erased.known(tx.conn, _from("9", "8"))

    assert await store.write(again) == (None, False)
    [(_, plan)] = await store.read(erasing.unfinished)
    assert plan.peers == ("mira",)
    await store.write(lambda tx: erasing.finish(tx, "e1", plan))
    assert await store.read(erasing.unfinished) == []


async def test_the_quoted_words_go_and_the_reply_stays(store: Store) -> None:
    await _filled(store)
    await store.write(lambda tx: erasing.erase(tx, ESTATE, grants=False, now=NOW))
    rows = await store.read(
        lambda conn: [
            inbox.peek(conn, row) for row in conn.scalars(sa.text("SELECT id FROM inbox"))
        ]
    )
    [row] = [one for one in rows if one is not None]
    assert row.event.text == "/title ships"
    assert row.event.reply == ReplyRef(MessageId("1"))
    assert await store.read(lambda conn: people.grant_of(conn, MIRA)) == (True, False)


async def test_a_shared_session_is_written_anew_and_an_own_one_goes(store: Store) -> None:
    await _filled(store)
    await store.write(lambda tx: tx.conn.execute(sa.update(ledger).values(state="saved")))
    await store.write(lambda tx: erasing.erase(tx, ESTATE, grants=True, now=NOW))
    left = await store.read(
        lambda conn: conn.execute(
            sa.select(ledger.c.state, session.c.closed_at)
            .join(session, session.c.number == ledger.c.session_number)
            .order_by(ledger.c.seq)
        ).all()
    )
    assert [row.state for row in left] == ["due", "due"]
    await store.write(lambda tx: erasing.erase(tx, OTHER, grants=True, now=NOW))
    rest = await store.read(lambda c: [statements.count(c, each) for each in (turn, ledger)])
    assert rest == [0, 0]
