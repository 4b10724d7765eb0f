"""What is left of turns that are long done, on both dialects."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import sqlalchemy as sa

from gateway.model.outbound import PartState, RichText
from gateway.model.turn import TurnState
from gateway.store import inbox, outbox, settled, turns
from gateway.store.tables import checkpoint
from gateway.store.tables import outbox as parts
from tests.contract.store import samples
from tests.contract.store.samples import NOW, TURN, later

if TYPE_CHECKING:
    from gateway.model.turn import TurnState as State
    from gateway.store.engine import Store, Tx


def settle(tx: Tx, *states: State) -> None:
    """Take a turn with an answer through its states, a second apart."""
    samples.open_session(tx)
    turns.create(tx, samples.turn(TURN), now=NOW)
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
