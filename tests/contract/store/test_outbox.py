"""Parts are posted once, keep their text until it arrived, and tell what became of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import sqlalchemy as sa

from gateway.model.files import SentFile
from gateway.model.ids import MessageId, PlaceId, ThreadId
from gateway.model.outbound import Part, PartState, RichText, Span, SpanKind
from gateway.store import files, outbox
from gateway.store.outbox import Letter, StoredPart
from gateway.store.tables import outbox as table
from tests.contract.store.samples import ADDRESS, IDS, NOW, TURN, claim, later, say, turn

if TYPE_CHECKING:
    from gateway.store.engine import Store, Tx

RICH = RichText("Привет 🙂 world", (Span(SpanKind.LINK, 9, 14, "https://example.org/"),))
LETTER = Letter(
    key="t_1",
    address=replace(ADDRESS, thread=ThreadId("77")),
    contents=(RICH, RichText("and more")),
    purpose=outbox.ANSWER,
    turn=TURN,
    reply_to=MessageId("007"),
)


def _post(tx: Tx, letter: Letter = LETTER) -> list[int]:
    return outbox.post(tx, letter, now=NOW)


async def test_parts_come_back_in_order_as_they_were(store: Store) -> None:
    first, last = await store.write(_post)
    expected = Part("t_1:0", LETTER.address, RICH, TURN, MessageId("007"), last=False)
    assert await store.read(lambda conn: outbox.load(conn, first)) == StoredPart(
        first, expected, 0, outbox.ANSWER, PartState.WAITING, 0
    )
    assert await store.read(lambda conn: outbox.load(conn, last)) == StoredPart(
        last,
        replace(expected, key="t_1:1", content=RichText("and more"), last=True),
        1,
        outbox.ANSWER,
        PartState.WAITING,
        0,
    )


async def test_a_letter_is_posted_once(store: Store) -> None:
    assert len(await store.write(_post)) == 2
    assert await store.write(_post) == []
    assert len(await store.write(lambda tx: _post(tx, replace(LETTER, key="t_2")))) == 2
    assert await store.read(outbox.counts) == {"waiting": 4}


async def test_ids_stay_exact_text(store: Store) -> None:
    """H-02."""

    def fn(tx: Tx) -> list[StoredPart]:
        stored = []
        for value in IDS:
            where = replace(ADDRESS, place=PlaceId(value))
            answer = replace(LETTER, key=value, address=where, reply_to=MessageId(value))
            part, _ = _post(tx, answer)
            outbox.conclude(tx, part, PartState.DELIVERED, sent_message=value, now=NOW)
            stored.append(outbox.load(tx.conn, part))
        return stored

    stored = await store.write(fn)
    assert [one.part.address.place for one in stored] == IDS
    assert [one.part.reply_to for one in stored] == IDS
    rows = await store.read(lambda conn: outbox.of_turn(conn, TURN))
    assert [row.sent_message for row in rows if row.ordinal == 0] == IDS


async def test_a_part_in_flight_is_in_doubt(store: Store) -> None:
    part, _ = await store.write(_post)
    await store.write(lambda tx: outbox.mark_sending(tx, part, now=later(1)))
    sending = await store.read(lambda conn: outbox.load(conn, part))
    assert (sending.state, sending.attempts, sending.part.in_doubt) == (
        PartState.SENDING,
        1,
        True,
    )
    await store.write(lambda tx: outbox.mark_waiting(tx, part, error="flood", now=later(2)))
    waiting = await store.read(lambda conn: outbox.load(conn, part))
    assert (waiting.state, waiting.attempts, waiting.part.in_doubt) == (
        PartState.WAITING,
        1,
        False,
    )
    row, _ = await store.read(lambda conn: outbox.of_turn(conn, TURN))
    assert (row.error, row.updated_at) == ("flood", later(2))


@pytest.mark.parametrize("state", [state for state in PartState if state.final])
async def test_text_goes_when_it_arrived_and_stays_while_it_may_be_needed(
    store: Store, state: PartState
) -> None:
    part, _ = await store.write(_post)
    await store.write(
        lambda tx: outbox.conclude(tx, part, state, error="e", degraded="plain", now=later(1))
    )
    stored = await store.read(lambda conn: outbox.load(conn, part))
    assert stored.part.content == (RichText("") if state is PartState.DELIVERED else RICH)
    null = await store.read(
        lambda conn: conn.execute(
            sa.select(table.c.content.is_(None)).where(table.c.id == part)
        ).scalar()
    )
    assert null is (state is PartState.DELIVERED)
    row, _ = await store.read(lambda conn: outbox.of_turn(conn, TURN))
    assert (row.state, row.error, row.degraded, row.updated_at) == (state, "e", "plain", later(1))


async def test_the_states_of_a_turn_stand_in_order(store: Store) -> None:
    _, last = await store.write(_post)
    await store.write(lambda tx: _post(tx, replace(LETTER, key="other", turn=None)))
    await store.write(lambda tx: outbox.conclude(tx, last, PartState.UNKNOWN, now=NOW))
    states = await store.read(lambda conn: outbox.states_of(conn, TURN))
    assert states == [PartState.WAITING, PartState.UNKNOWN]
    assert await store.read(outbox.counts) == {"waiting": 3, "unknown": 1}


async def test_what_is_not_delivered_is_listed_without_its_text(store: Store) -> None:
    def fn(tx: Tx) -> None:
        parts = [_post(tx, replace(LETTER, key=str(number)))[0] for number in range(4)]
        states = (PartState.DELIVERED, PartState.FAILED, PartState.UNKNOWN)
        for part, state in zip(parts, states, strict=False):
            outbox.conclude(tx, part, state, error=state.value, now=later(1))

    await store.write(fn)
    rows = [row for row in await store.read(outbox.undelivered) if row.ordinal == 0]
    assert [(row.state, row.error) for row in rows] == [
        ("failed", "failed"),
        ("unknown", "unknown"),
        ("waiting", ""),
    ]
    assert [row.id for row in rows] == sorted(row.id for row in rows)
    assert (rows[0].turn, rows[0].thread, rows[0].created_at) == (TURN, "77", NOW)
    assert "content" not in rows[0]._mapping


async def test_a_part_can_be_rewritten_and_one_that_is_not_there_is_none(store: Store) -> None:
    part, other = await store.write(_post)
    longer = RichText("more", (Span(SpanKind.ITALIC, 0, 4),))
    await store.write(lambda tx: outbox.rewrite(tx, part, longer))
    assert (await store.read(lambda conn: outbox.load(conn, part))).part.content == longer
    untouched = await store.read(lambda conn: outbox.load(conn, other))
    assert untouched.part.content == RichText("and more")
    assert await store.read(lambda conn: outbox.find(conn, other + 100)) is None


async def test_files_follow_the_words_of_their_letter(store: Store) -> None:
    """A part that is a file names it; the last words are the part before it."""
    sent = SentFile("0123.md", "plan.md", "text/markdown", 12)

    def answer(tx: Tx) -> list[int]:
        claim(tx, turn())
        said = say(tx, "Here.", turn=TURN)
        carried = files.carry(tx, TURN, said, [sent], now=NOW)
        return outbox.post(tx, replace(LETTER, files=carried), now=NOW)

    *_, words, file = await store.write(answer)
    stored = await store.read(lambda conn: outbox.load(conn, file))
    assert (stored.part.file, stored.part.content, stored.part.last) == (sent, RichText(""), True)
    assert await store.read(lambda conn: not outbox.ends_words(conn, stored))
    before = await store.read(lambda conn: outbox.load(conn, words))
    assert (before.part.file, before.part.last) == (None, False)
    assert await store.read(lambda conn: outbox.ends_words(conn, before))
