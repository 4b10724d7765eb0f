"""The engine of one process: at most one drain for a key, and no wake-up that is lost."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from structlog.testing import capture_logs

from gateway.mailbox import items
from gateway.mailbox.embedded import CONTROL, CONTROL_INTERVAL, REPAIR_PAUSE, EmbeddedEngine
from gateway.mailbox.lanes import Again, Done, Lane
from gateway.mailbox.remote import RemoteMailbox
from gateway.model.errors import StoreError
from gateway.store.sqlite import SqliteStore
from tests.fakes.lanes import BACKOFF, KEY, LANE, finished, lane, put, recorded, row

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from gateway.mailbox.lanes import Lease, Outcome
    from gateway.store.engine import Store, Tx
    from tests.fakes.clock import FakeClock
    from tests.fakes.store import FaultyStore


@pytest.fixture
async def engine(store: FaultyStore, clock: FakeClock) -> AsyncIterator[EmbeddedEngine]:
    engine = EmbeddedEngine(store, clock)
    yield engine
    await engine.stop(0)


async def post(
    engine: EmbeddedEngine, store: Store, name: str, *, key: str = KEY, lane_name: str = LANE
) -> int | None:
    """Put one item as the pipeline does."""
    return await store.write(
        lambda tx: engine.put(tx, lane_name, key, dedupe=name, payload={"name": name})
    )


class Turnstile:
    """A handler that holds each item until it is let through, and watches who is inside."""

    def __init__(self) -> None:
        self.inside: list[str] = []
        self.most = 0
        self.entered = asyncio.Condition()
        self.passes = asyncio.Semaphore(0)

    async def handle(self, lease: Lease) -> Outcome:
        self.inside.append(lease.item.dedupe)
        self.most = max(self.most, len(self.inside))
        async with self.entered:
            self.entered.notify_all()
        await self.passes.acquire()
        self.inside.remove(lease.item.dedupe)
        return await finished(lease)

    async def holds(self, *names: str) -> None:
        async with self.entered:
            await asyncio.wait_for(
                self.entered.wait_for(lambda: sorted(self.inside) == sorted(names)), 5
            )

    def let(self, count: int) -> None:
        for _ in range(count):
            self.passes.release()


async def test_what_is_put_is_handled_once_committed(
    store: FaultyStore, engine: EmbeddedEngine
) -> None:
    await engine.start([lane()])
    assert await post(engine, store, "a") is not None
    assert await post(engine, store, "a") is None
    await engine.idle()
    assert await recorded(store) == ["a"]


async def test_what_is_rolled_back_wakes_nobody(
    store: FaultyStore, engine: EmbeddedEngine
) -> None:
    def fails(tx: Tx) -> None:
        engine.kick(tx, LANE, KEY)
        raise LookupError

    await engine.start([lane()])
    await put(store, "a")
    with pytest.raises(LookupError):
        await store.write(fails)
    await engine.idle()
    assert await recorded(store) == []


async def test_keys_run_side_by_side_and_each_in_order(
    store: FaultyStore, engine: EmbeddedEngine
) -> None:
    turnstile = Turnstile()
    await engine.start([lane(turnstile.handle)])
    for key in ("x", "y", "z"):
        for number in (1, 2):
            await post(engine, store, f"{key}{number}", key=key)
    await turnstile.holds("x1", "y1", "z1")
    turnstile.let(3)
    await turnstile.holds("x2", "y2", "z2")
    turnstile.let(3)
    await engine.idle()
    assert sorted((await recorded(store))[:3]) == ["x1", "y1", "z1"]


async def test_a_lane_works_on_so_many_keys_at_once(
    store: FaultyStore, engine: EmbeddedEngine
) -> None:
    turnstile = Turnstile()
    await engine.start([lane(turnstile.handle, concurrency=2)])
    for name in ("a", "b", "c", "d"):
        await post(engine, store, name, key=name)
    await turnstile.holds("a", "b")
    turnstile.let(1)
    await turnstile.holds("b", "c")
    turnstile.let(3)
    await engine.idle()
    assert (turnstile.most, sorted(await recorded(store))) == (2, ["a", "b", "c", "d"])


async def test_lanes_do_not_hold_each_other_up(store: FaultyStore, engine: EmbeddedEngine) -> None:
    turnstile = Turnstile()
    await engine.start([lane(turnstile.handle, concurrency=1), lane(name="deliver")])
    await post(engine, store, "slow")
    await turnstile.holds("slow")
    await post(engine, store, "quick", lane_name="deliver")
    while await recorded(store) != ["quick"]:  # noqa: ASYNC110 - each look is a real read
        await asyncio.sleep(0)
    turnstile.let(1)
    await engine.idle()
    assert await recorded(store) == ["quick", "slow"]


async def test_a_wake_up_during_the_last_look_is_not_lost(
    store: FaultyStore, engine: EmbeddedEngine
) -> None:
    """The drain has found nothing more and is on its way out when the next item commits."""
    await engine.start([lane()])
    store.answering.clear()
    engine.wake(LANE, KEY)
    await store.holding.wait()
    assert await store.real.write(lambda tx: engine.put(tx, LANE, KEY, dedupe="late", payload={}))
    await asyncio.sleep(0)
    store.answering.set()
    await engine.idle()
    assert await recorded(store) == ["late"]


async def test_lanes_without_a_handler_here_are_left_alone(
    store: FaultyStore, engine: EmbeddedEngine
) -> None:
    await engine.start([lane()])
    await post(engine, store, "a", lane_name="memory")
    await engine.idle()
    assert (await row(store, "a", "memory")).state == "ready"


async def test_a_pause_ends_by_the_clock(
    store: FaultyStore, engine: EmbeddedEngine, clock: FakeClock
) -> None:
    async def handle(lease: Lease) -> Outcome:
        return Again(10.0) if clock.monotonic() < 10 else await finished(lease)

    await engine.start([lane(handle)])
    await post(engine, store, "a")
    await engine.idle()
    assert clock.pauses == [CONTROL_INTERVAL, 10.0]
    await clock.advance(9.9)
    await engine.idle()
    assert await recorded(store) == []
    await clock.until_sleeping(2)
    await clock.advance(0.1)
    await engine.idle()
    assert await recorded(store) == ["a"]


async def test_a_new_item_looks_again_and_keeps_the_pause(
    store: FaultyStore, engine: EmbeddedEngine, clock: FakeClock
) -> None:
    async def handle(lease: Lease) -> Outcome:
        return Again(10.0) if clock.monotonic() < 10 else await finished(lease)

    await engine.start([lane(handle)])
    await post(engine, store, "a")
    await engine.idle()
    await clock.advance(4)
    await engine.idle()
    await post(engine, store, "b")
    await engine.idle()
    await clock.until_sleeping(2)
    assert clock.pauses[1:] == [6.0]
    await clock.advance(6)
    await engine.idle()
    assert await recorded(store) == ["a", "b"]


async def test_a_pause_is_looked_at_anew_when_the_wall_clock_goes_back(
    store: FaultyStore, engine: EmbeddedEngine, clock: FakeClock
) -> None:
    async def handle(lease: Lease) -> Outcome:
        seen.append(clock.monotonic())
        return Again(2.0) if len(seen) == 1 else await finished(lease)

    seen: list[float] = []
    await engine.start([lane(handle)])
    await post(engine, store, "a")
    await engine.idle()
    clock.jump(-3)
    await clock.advance(2)
    await engine.idle()
    await clock.until_sleeping(2)
    assert clock.pauses[1:] == [3.0]
    await clock.advance(3)
    await engine.idle()
    assert (seen, await recorded(store)) == ([0.0, 5.0], ["a"])


async def test_the_start_finds_what_a_crash_left(
    store: FaultyStore, engine: EmbeddedEngine, clock: FakeClock
) -> None:
    """H-57: running, waiting and paused work of an earlier process goes on, each key in order."""
    await put(store, "a", "b")
    await put(store, "c", key="another")
    await store.write(lambda tx: items.claim(tx, LANE, KEY, now=clock.now()))
    paused = await store.write(lambda tx: items.claim(tx, LANE, "another", now=clock.now()))
    assert isinstance(paused, items.Item)
    due = clock.now() + timedelta(seconds=60)
    await store.write(lambda tx: items.put_back(tx, paused, run_at=due))
    await engine.start([lane()])
    await engine.idle()
    assert await recorded(store) == ["a", "b"]
    await clock.until_sleeping(2)
    await clock.advance(60)
    await engine.idle()
    assert await recorded(store) == ["a", "b", "c"]


async def test_notes_of_other_processes_are_found_within_a_second(
    store: FaultyStore, engine: EmbeddedEngine, clock: FakeClock
) -> None:
    async def noted(_lease: Lease) -> Outcome:
        return Done()

    await engine.start([lane(), Lane(CONTROL, noted, BACKOFF)])
    await engine.idle()
    other = SqliteStore(store.real.path, readers=1)  # type: ignore[attr-defined]  # is SQLite
    await put(other, "a")
    await clock.advance(CONTROL_INTERVAL)
    await engine.idle()
    assert await recorded(store) == []
    remote = RemoteMailbox(clock)
    await other.write(lambda tx: remote.put(tx, LANE, "another", dedupe="b", payload={}))
    await other.close()
    await clock.until_sleeping()
    await clock.advance(CONTROL_INTERVAL)
    while len(await recorded(store)) < 2:  # noqa: ASYNC110 - each look is a real read
        await asyncio.sleep(0)
    await engine.idle()
    assert sorted(await recorded(store)) == ["a", "b"]
    assert await store.read(items.live_keys) == []


async def test_a_look_that_fails_is_not_the_last(
    store: FaultyStore, engine: EmbeddedEngine, clock: FakeClock
) -> None:
    await engine.start([lane(name=CONTROL)])
    store.read_faults = [StoreError("disk I/O error")]
    with capture_logs() as logs:
        await clock.advance(CONTROL_INTERVAL)
    assert [entry["event"] for entry in logs] == ["store.unreadable"]
    await put(store, "note", lane=CONTROL)
    await clock.advance(CONTROL_INTERVAL)
    await clock.until_sleeping()
    await engine.idle()
    assert await recorded(store) == ["note"]


async def test_a_drain_that_broke_is_repaired(
    store: FaultyStore, engine: EmbeddedEngine, clock: FakeClock
) -> None:
    await engine.start([lane()])
    await put(store, "a")
    store.faults = [StoreError("disk I/O error")]
    with capture_logs() as logs:
        engine.wake(LANE, KEY)
        await engine.idle()
    assert [entry["event"] for entry in logs] == ["mailbox.drain_broke"]
    await clock.until_sleeping(2)
    await clock.advance(REPAIR_PAUSE)
    await engine.idle()
    assert await recorded(store) == ["a"]


async def test_stopping_lets_what_runs_finish_and_begins_nothing(
    store: FaultyStore, engine: EmbeddedEngine
) -> None:
    turnstile = Turnstile()
    await engine.start([lane(turnstile.handle)])
    await post(engine, store, "a")
    await post(engine, store, "b")
    await turnstile.holds("a")
    stopping = asyncio.create_task(engine.stop(60))
    await asyncio.sleep(0)
    await post(engine, store, "c", key="another")
    turnstile.let(3)
    await stopping
    assert await recorded(store) == ["a"]
    for name in ("b", "c"):
        assert ((await row(store, name)).state, (await row(store, name)).attempts) == ("ready", 0)


async def test_stopping_still_sends_what_comes_of_the_work_that_ends(
    store: FaultyStore, engine: EmbeddedEngine
) -> None:
    """Such a lane goes on within the grace, behind items that waited before it too."""
    turnstile = Turnstile()

    async def work(lease: Lease) -> Outcome:
        await turnstile.handle(lease)
        return Done(lambda tx: _send(tx, engine))

    sending = lane(finished, name="send", finishes=True)
    await engine.start([lane(work), sending])
    await post(engine, store, "a")
    await post(engine, store, "b")
    await turnstile.holds("a")
    stopping = asyncio.create_task(engine.stop(60))
    await asyncio.sleep(0)
    turnstile.let(2)
    await stopping
    assert await recorded(store) == ["sent"]
    await post(engine, store, "late", lane_name="send")
    await asyncio.sleep(0)
    await engine.idle()
    assert await recorded(store) == ["sent"]


def _send(tx: Tx, engine: EmbeddedEngine) -> None:
    engine.put(tx, "send", KEY, dedupe="sent", payload={})


async def test_stopping_cancels_what_takes_too_long_and_loses_nothing(
    store: FaultyStore, engine: EmbeddedEngine, clock: FakeClock
) -> None:
    turnstile = Turnstile()
    await engine.start([lane(turnstile.handle)])
    await post(engine, store, "a")
    await turnstile.holds("a")
    await engine.stop(0)
    assert ((await row(store, "a")).state, (await row(store, "a")).attempts) == ("ready", 0)
    following = EmbeddedEngine(store, clock)
    await following.start([lane()])
    await following.idle()
    await following.stop(0)
    assert await recorded(store) == ["a"]


async def test_stopping_leaves_no_timers(
    store: FaultyStore, engine: EmbeddedEngine, clock: FakeClock
) -> None:
    async def handle(_lease: Lease) -> Outcome:
        return Again(10.0)

    await engine.start([lane(handle)])
    await post(engine, store, "a")
    await engine.idle()
    await engine.stop(0)
    assert clock.pauses == []
    engine.wake(LANE, KEY)
    await engine.idle()
    assert clock.pauses == []


async def test_a_drain_that_ends_while_stopping_arms_no_timer(
    store: FaultyStore, engine: EmbeddedEngine, clock: FakeClock
) -> None:
    async def handle(_lease: Lease) -> Outcome:
        entered.set()
        await leave.wait()
        return Again(10.0)

    entered, leave = asyncio.Event(), asyncio.Event()
    await engine.start([lane(handle)])
    await post(engine, store, "a")
    await entered.wait()
    stopping = asyncio.create_task(engine.stop(60))
    await asyncio.sleep(0)
    leave.set()
    await stopping
    assert (clock.pauses, (await row(store, "a")).state) == ([], "ready")


async def test_a_drain_that_breaks_while_stopping_arms_no_timer(
    store: FaultyStore, engine: EmbeddedEngine, clock: FakeClock
) -> None:
    turnstile = Turnstile()
    await engine.start([lane(turnstile.handle)])
    await post(engine, store, "a")
    await turnstile.holds("a")
    stopping = asyncio.create_task(engine.stop(60))
    await asyncio.sleep(0)
    store.faults = [StoreError("disk I/O error")] * 3
    turnstile.let(1)
    await stopping
    assert (clock.pauses, (await row(store, "a")).state) == ([], "running")


async def test_who_stops_waiting_does_not_stop_the_work(
    store: FaultyStore, engine: EmbeddedEngine
) -> None:
    turnstile = Turnstile()
    await engine.start([lane(turnstile.handle)])
    await post(engine, store, "a")
    await turnstile.holds("a")
    waiting = asyncio.create_task(engine.idle())
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    turnstile.let(1)
    await engine.idle()
    assert (await recorded(store), (await row(store, "a")).attempts) == (["a"], 1)


async def test_an_engine_that_never_started_stops(store: FaultyStore, clock: FakeClock) -> None:
    engine = EmbeddedEngine(store, clock)
    await engine.stop(0)
    engine.wake(LANE, KEY)
    await engine.idle()
    assert clock.pauses == []
