"""Turns go through legal states only, and every arrow leaves its checkpoint."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from gateway.model.errors import IllegalTransitionError, StoreError
from gateway.model.ids import ConversationKey, TurnId
from gateway.model.turn import TRANSITIONS, TurnState
from gateway.store import turns
from gateway.store.people import Account
from tests.contract.store.samples import CONVERSATION, IDS, NOW, TURN, claim, later, take_to, turn

if TYPE_CHECKING:
    import sqlalchemy as sa

    from gateway.store.engine import Store, Tx


async def test_a_turn_comes_back_as_it_was_frozen(store: Store) -> None:
    await store.write(lambda tx: claim(tx, turn()))
    assert await store.read(lambda conn: turns.load(conn, TURN)) == turn()
    assert await store.read(lambda conn: turns.load(conn, TurnId("t_other"))) is None


async def test_ids_stay_exact_text(store: Store) -> None:
    """H-02."""
    for value in IDS:
        new = turn(value, reply_to=value, account=Account("telegram", value, value), peer=value)
        await store.write(partial(claim, new=new))
        assert await store.read(partial(turns.load, turn_id=new.id)) == new


async def test_every_arrow_writes_a_checkpoint(store: Store) -> None:
    usage = {"model": "test:small", "requests": 2}

    def fn(tx: Tx) -> list[int]:
        claim(tx, turn())
        take_to(tx, [TurnState.RUNNING])
        attempts = [turns.begin_attempt(tx, TURN, now=later(n)) for n in (1, 2)]
        turns.advance(tx, TURN, TurnState.ANSWERED, now=later(3), detail="two parts", usage=usage)
        turns.mark(tx, TURN, "delivered", "failed", attempt=4, detail="part 1", now=later(4))
        return attempts

    assert await store.write(fn) == [1, 2]
    found = await store.read(lambda conn: turns.checkpoints(conn, TURN))
    assert [tuple(row) for row in found] == [
        ("running", "ok", 0, "", NOW),
        ("run", "started", 1, "", later(1)),
        ("run", "started", 2, "", later(2)),
        ("answered", "ok", 2, "two parts", later(3)),
        ("delivered", "failed", 4, "part 1", later(4)),
    ]
    loaded = await store.read(lambda conn: turns.load(conn, TURN))
    assert loaded == turn(state=TurnState.ANSWERED, attempt=2)
    assert await store.read(lambda conn: turns.usage(conn, TURN)) == usage


@pytest.mark.parametrize("old", TurnState)
async def test_an_illegal_step_raises_and_changes_nothing(store: Store, old: TurnState) -> None:
    await store.write(lambda tx: claim(tx, turn(state=old)))
    for new in set(TurnState) - TRANSITIONS[old]:
        with pytest.raises(IllegalTransitionError, match=f"from {old.value} to {new.value}"):
            await store.write(partial(take_to, states=[new]))
    loaded = await store.read(lambda conn: turns.load(conn, TURN))
    assert loaded == turn(state=old)
    assert await store.read(lambda conn: turns.checkpoints(conn, TURN)) == []


async def test_a_turn_that_does_not_exist_cannot_advance(store: Store) -> None:
    with pytest.raises(StoreError, match="No row was found"):
        await store.write(lambda tx: take_to(tx, [TurnState.RUNNING]))


async def test_model_steps_stand_in_order_until_the_answer(store: Store) -> None:
    def fn(tx: Tx) -> None:
        claim(tx, turn())
        claim(tx, turn("t_other"))
        for step in ('{"n": 1}', '{"n": 2}', '{"n": 3}'):
            turns.add_step(tx, TURN, step)
        turns.add_step(tx, TurnId("t_other"), "{}")

    await store.write(fn)
    assert await store.read(lambda conn: turns.steps(conn, TURN)) == [
        '{"n": 1}',
        '{"n": 2}',
        '{"n": 3}',
    ]
    await store.write(lambda tx: turns.drop_steps(tx, TURN))
    assert await store.read(lambda conn: turns.steps(conn, TURN)) == []
    assert await store.read(lambda conn: turns.steps(conn, TurnId("t_other"))) == ["{}"]


async def test_a_stop_reaches_the_running_turn_only(store: Store) -> None:
    def fn(tx: Tx) -> list[TurnId | None]:
        claim(tx, turn("t_1", state=TurnState.SETTLED))
        claim(tx, turn("t_2", state=TurnState.ADMITTED))
        first = turns.request_stop(tx, CONVERSATION)
        take_to(tx, [TurnState.RUNNING], turn_id=TurnId("t_2"))
        other = turns.request_stop(tx, ConversationKey("another"))
        return [first, other, turns.request_stop(tx, CONVERSATION)]

    assert await store.write(fn) == [None, None, "t_2"]

    def stopped(conn: sa.Connection) -> list[str]:
        found = (turns.load(conn, TurnId(name)) for name in ("t_1", "t_2"))
        return [one.id for one in found if one is not None and one.stop_requested]

    assert await store.read(stopped) == ["t_2"]


async def test_the_newest_turn_is_found_by_conversation_and_account(store: Store) -> None:
    mira, noor = Account("telegram", "", "7"), Account("telegram", "", "07")

    def fn(tx: Tx) -> None:
        claim(tx, turn("t_2", account=mira))
        claim(tx, turn("t_3", account=noor))
        claim(tx, turn("t_1", account=mira))

    await store.write(fn)

    def look(conn: sa.Connection) -> list[TurnId | None]:
        return [
            turns.latest(conn, CONVERSATION),
            turns.latest(conn, CONVERSATION, account=mira),
            turns.latest(conn, CONVERSATION, account=noor),
            turns.latest(conn, CONVERSATION, account=Account("telegram", "T0", "7")),
            turns.latest(conn, ConversationKey("another")),
        ]

    assert await store.read(look) == ["t_3", "t_2", "t_3", None, None]


async def test_turns_are_counted_by_state(store: Store) -> None:
    def fn(tx: Tx) -> None:
        for number, state in enumerate(("dead", "running", "running")):
            claim(tx, turn(f"t_{number}", state=TurnState(state)))

    await store.write(fn)
    assert await store.read(turns.counts) == {"dead": 1, "running": 2}
