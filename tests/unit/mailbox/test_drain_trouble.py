"""Draining while the database is locked or broken, and while the process stops."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import TYPE_CHECKING

import pytest
from structlog.testing import capture_logs

from gateway.mailbox.drain import BUSY_PAUSE, Drain
from gateway.mailbox.lanes import Done
from gateway.model.errors import StoreBusyError, StoreError
from tests.fakes.lanes import KEY, finished, lane, put, record, recorded, row

if TYPE_CHECKING:
    from gateway.mailbox.lanes import Lease, Outcome
    from tests.fakes.clock import FakeClock
    from tests.fakes.store import FaultyStore


class Gate:
    """A handler that waits in the middle."""

    def __init__(self) -> None:
        self.entered = asyncio.Event()
        self.open = asyncio.Event()

    async def handle(self, lease: Lease) -> Outcome:
        self.entered.set()
        await self.open.wait()
        return await finished(lease)


@pytest.mark.parametrize("passing", [0, 1], ids=["claim", "conclude"])
async def test_a_locked_database_is_waited_for(
    store: FaultyStore, clock: FakeClock, passing: int
) -> None:
    """H-58: nothing is lost or doubled, however long somebody holds the lock."""
    await put(store, "a", "b")
    store.faults = [None] * passing + [StoreBusyError()] * 100
    draining = asyncio.create_task(Drain(store, clock).run(lane(), KEY))
    with capture_logs() as logs:
        for _ in range(100):
            await clock.until_sleeping()
            assert clock.pauses == [BUSY_PAUSE]
            await clock.advance(BUSY_PAUSE)
        assert await draining is None
    assert [entry["event"] for entry in logs].count("store.busy") == 100
    assert await recorded(store) == ["a", "b"]
    assert (await row(store, "a")).attempts == 1


async def test_a_broken_database_is_said_and_leaves_the_item_claimable(
    store: FaultyStore, clock: FakeClock
) -> None:
    drain = Drain(store, clock)
    await put(store, "a")
    store.faults = [None, *[StoreError("disk I/O error")] * 3]
    with pytest.raises(StoreError, match="disk I/O error"):
        await drain.run(lane(), KEY)
    assert await recorded(store) == []
    assert await drain.run(lane(), KEY) is None
    stored = await row(store, "a")
    assert (await recorded(store), stored.attempts, stored.crashes) == (["a"], 1, 1)


async def test_a_commit_that_fails_once_is_a_failed_try(
    store: FaultyStore, clock: FakeClock
) -> None:
    drain = Drain(store, clock, roll=lambda: 0.0)
    await put(store, "a")
    store.faults = [None, StoreError("disk I/O error")]
    due = await drain.run(lane(), KEY)
    assert isinstance(due, datetime)
    assert (due - clock.now()).total_seconds() == 2.0
    await clock.advance(2.0)
    assert await drain.run(lane(), KEY) is None
    assert await recorded(store) == ["a"]


async def cancel(task: asyncio.Task[object]) -> None:
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_what_is_cancelled_is_put_back_as_if_not_claimed(
    store: FaultyStore, clock: FakeClock
) -> None:
    gate, drain = Gate(), Drain(store, clock)
    await put(store, "a", "b")
    draining = asyncio.create_task(drain.run(lane(gate.handle), KEY))
    await gate.entered.wait()
    await cancel(draining)
    stored = await row(store, "a")
    assert (stored.state, stored.attempts, stored.run_at) == ("ready", 0, clock.now())
    gate.open.set()
    assert await drain.run(lane(gate.handle), KEY) is None
    assert await recorded(store) == ["a", "b"]


async def test_what_was_claimed_while_cancelled_is_put_back(
    store: FaultyStore, clock: FakeClock
) -> None:
    await put(store, "a")
    store.answering.clear()
    draining = asyncio.create_task(Drain(store, clock).run(lane(), KEY))
    await store.holding.wait()
    assert (await row(store, "a")).state == "running"
    draining.cancel()
    store.answering.set()
    with pytest.raises(asyncio.CancelledError):
        await draining
    stored = await row(store, "a")
    assert (stored.state, stored.attempts) == ("ready", 0)


async def test_what_was_concluded_while_cancelled_is_concluded(
    store: FaultyStore, clock: FakeClock
) -> None:
    gate = Gate()
    await put(store, "a", "b")
    draining = asyncio.create_task(Drain(store, clock).run(lane(gate.handle), KEY))
    await gate.entered.wait()
    store.answering.clear()
    gate.open.set()
    await store.holding.wait()
    draining.cancel()
    store.answering.set()
    with capture_logs() as logs, pytest.raises(asyncio.CancelledError):
        await draining
    assert (await recorded(store), logs) == (["a"], [])
    second = await row(store, "b")
    assert (second.state, second.attempts) == ("ready", 0)


@pytest.mark.parametrize("where", ["claim", "conclude"])
async def test_cancelling_while_the_database_is_locked_ends_at_once(
    store: FaultyStore, clock: FakeClock, where: str
) -> None:
    await put(store, "a")
    store.faults = [None] * (where == "conclude") + [StoreBusyError()] * 2
    draining = asyncio.create_task(Drain(store, clock).run(lane(), KEY))
    await clock.until_sleeping()
    with capture_logs() as logs:
        await cancel(draining)
    assert [entry["event"] for entry in logs] == ["mailbox.not_released"] * (where == "conclude")
    store.faults.clear()
    assert await Drain(store, clock).run(lane(), KEY) is None
    assert await recorded(store) == ["a"]


async def test_a_write_that_failed_while_cancelled_has_nothing_to_put_back(
    store: FaultyStore, clock: FakeClock
) -> None:
    await put(store, "a")
    draining = asyncio.create_task(Drain(store, clock).run(lane(), KEY))
    await asyncio.sleep(0)
    store.faults = [StoreError("gone")]
    await cancel(draining)
    assert (await row(store, "a")).attempts == 0


@pytest.mark.parametrize("claims", [0, 1])
async def test_nothing_is_claimed_once_the_process_is_to_stop(
    store: FaultyStore, clock: FakeClock, claims: int
) -> None:
    async def handle(lease: Lease) -> Outcome:
        left.clear()
        return Done(record(lease.item.dedupe))

    left = ["claim"] * claims
    drain = Drain(store, clock, may_claim=lambda: bool(left))
    await put(store, "a", "b")
    assert await drain.run(lane(handle), KEY) is None
    assert await recorded(store) == ["a"][:claims]
    assert (await row(store, "b")).attempts == 0
