"""What is left of turns that are long done, on both dialects."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import sqlalchemy as sa

from gateway.model.outbound import PartState, RichText
from gateway.model.turn import TurnState
from gateway.store import inbox, outbox, outdated, search, settled, turns
from gateway.store.tables import checkpoint, ledger, message, turn
from gateway.store.tables import outbox as parts
from tests.contract.store import samples
from tests.contract.store.samples import NOW, TURN, later
from tests.contract.store.talk import Talk

if TYPE_CHECKING:
    from gateway.model.turn import TurnState as State
    from gateway.store.engine import Store, Tx


def settle(tx: Tx, *states: State) -> None:
    """Take a turn with an answer through its states, a second apart."""
    samples.open_session(tx)
    samples.claim(tx, samples.turn(TURN))
    letter = outbox.Letter(TURN, samples.ADDRESS, [RichText("Hi")], turn=TURN)
    [part] = outbox.post(tx, letter, now=NOW)
    for number, state in enumerate(states, 1):
        turns.advance(tx, TURN, state, now=later(number))
    if TurnState.SETTLED in states:
        outbox.conclude(tx, part, PartState.DELIVERED, now=later(3), sent_message="7")


async def count(store: Store, table: sa.Table) -> int:
    every = sa.select(sa.func.count()).select_from(table)
    return await store.read(lambda conn: conn.execute(every).scalar_one())


WHOLE = (TurnState.RUNNING, TurnState.ANSWERED, TurnState.SETTLED)


async def test_the_way_of_an_old_turn_goes_and_the_turn_stays(store: Store) -> None:
    await store.write(lambda tx: settle(tx, *WHOLE))
    for before, gone in ((later(3), 0), (later(4), 1), (later(4), 0)):
        drop = partial(settled.forget_ways, before=before, limit=9)
        assert await store.write(drop) == gone
    assert await count(store, checkpoint) == 0
    kept = await store.read(lambda conn: turns.load(conn, TURN))
    assert kept is not None
    assert (kept.state, kept.peer) == (TurnState.SETTLED, samples.turn(TURN).peer)
    assert await store.read(lambda conn: inbox.of_turn(conn, TURN)) == []


async def test_a_turn_that_is_not_over_keeps_its_way(store: Store) -> None:
    await store.write(lambda tx: settle(tx, TurnState.RUNNING))
    assert await store.write(lambda tx: settled.forget_ways(tx, before=later(99), limit=9)) == 0
    assert await count(store, checkpoint) == 1


async def test_only_delivered_parts_go(store: Store) -> None:
    await store.write(lambda tx: settle(tx, *WHOLE))
    waiting = outbox.Letter("notice", samples.ADDRESS, [RichText("Hm")])
    await store.write(lambda tx: outbox.post(tx, waiting, now=NOW))
    drop = settled.forget_delivered
    assert await store.write(lambda tx: drop(tx, before=later(3), limit=9)) == 0
    assert await store.write(lambda tx: drop(tx, before=later(99), limit=9)) == 1
    assert await count(store, parts) == 1


async def test_a_file_shrinks_by_what_was_dropped(store: Store) -> None:
    def fill(tx: Tx) -> None:
        for number in range(300):
            text = RichText("x" * 3000)
            letter = outbox.Letter(f"k{number}", samples.ADDRESS, [text])
            [part] = outbox.post(tx, letter, now=NOW)
            outbox.conclude(tx, part, PartState.FAILED, now=NOW)

    await store.write(fill)
    await store.write(lambda tx: tx.conn.execute(sa.delete(parts)))
    if store.engine.dialect.name == "sqlite":
        first = await store.write(lambda tx: settled.give_back(tx, pages=10))
        assert first > 10
        assert await store.write(lambda tx: settled.give_back(tx, pages=10)) == first - 10
    while await store.write(lambda tx: settled.give_back(tx, pages=500)):
        pass


async def test_old_words_go_from_messages_and_search(store: Store) -> None:
    talk = await Talk(store).open()
    old = await talk.say("The otter is back", answer="Lovely, an otter!")
    new = await talk.say("Another otter")
    await store.write(_deliver)
    drop = partial(outdated.forget_texts, before=later(2), limit=9)
    assert await store.write(drop) == len(old) == 2
    assert await store.write(drop) == 0
    assert await talk.find("otter") == ["Another otter"]
    report = await store.read(search.check)
    assert (report.sound, report.indexed) == (True, len(new))
    texts = sa.select(message.c.text).order_by(message.c.id)
    found = await store.read(lambda conn: list(conn.execute(texts).scalars()))
    assert found == ["", "", "Another otter"]


async def test_words_that_memory_waits_for_are_kept(store: Store) -> None:
    talk = await Talk(store).open()
    await talk.say("The otter is back")
    await store.write(lambda tx: _deliver(tx, state="parked"))
    drop = partial(outdated.forget_texts, before=later(9), limit=9)
    assert await store.write(drop) == 0
    await store.write(_deliver)
    assert await store.write(drop) == 1


async def test_words_of_an_open_turn_are_kept(store: Store) -> None:
    talk = await Talk(store).open()
    await talk.say("The otter is back", closed=False)
    await store.write(lambda tx: _deliver(tx, settle=False))
    drop = partial(outdated.forget_texts, before=later(9), limit=9)
    assert await store.write(drop) == 0


def _deliver(tx: Tx, *, state: str = "saved", settle: bool = True) -> None:
    tx.conn.execute(sa.update(ledger).values(state=state))
    if settle:
        tx.conn.execute(sa.update(turn).values(state=TurnState.SETTLED))
