"""Draining: an outcome, its effects and the next claim are one transaction."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from gateway.mailbox import items
from gateway.mailbox.drain import Drain
from gateway.mailbox.lanes import Again, Dead, Done
from gateway.model.errors import (
    Disposition,
    GatewayError,
    IllegalTransitionError,
    PlatformError,
    RateLimitedError,
    StoreBusyError,
    StoreError,
)
from gateway.policy.crashes import COMPANY, MOST
from tests.fakes.clock import FakeClock
from tests.fakes.lanes import BACKOFF, KEY, LANE, bury, finished, lane, put, record, recorded, row

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import datetime

    from gateway.mailbox.lanes import Lane, Lease, Outcome
    from gateway.store.engine import Store, Tx


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def drain(store: Store, clock: FakeClock) -> Drain:
    return Drain(store, clock, roll=lambda: 0.0)


def failing(*errors: BaseException) -> Callable[[Lease], Awaitable[Outcome]]:
    """Return a handler that raises these, then is done."""
    left = list(errors)

    async def handle(lease: Lease) -> Outcome:
        if left:
            raise left.pop(0)
        return await finished(lease)

    return handle


async def pauses(drain: Drain, clock: FakeClock, working: Lane) -> list[float]:
    """Drain until nothing waits; return the pauses that were asked for."""
    asked = []
    while (due := await drain.run(working, KEY)) is not None:
        assert not isinstance(due, items.Suspect)
        pause = (due - clock.now()).total_seconds()
        asked.append(pause)
        await clock.advance(pause)
    return asked


# --- outcomes --------------------------------------------------------------------------------


async def test_a_key_is_worked_off_in_order_with_its_effects(store: Store, drain: Drain) -> None:
    await put(store, "a", "b", "c")
    await put(store, "other", key="another")
    assert await drain.run(lane(), KEY) is None
    assert await recorded(store) == ["a", "b", "c"]
    assert (await row(store, "c")).state == "done"
    assert (await row(store, "other")).state == "ready"
    assert await drain.run(lane(), KEY) is None


async def test_done_needs_no_effects(store: Store, drain: Drain) -> None:
    async def handle(_lease: Lease) -> Outcome:
        return Done()

    await put(store, "a", "b")
    assert await drain.run(lane(handle), KEY) is None
    assert (await row(store, "b")).state == "done"


async def test_again_waits_uncounted_and_keeps_its_effects(
    store: Store, drain: Drain, clock: FakeClock
) -> None:
    async def handle(lease: Lease) -> Outcome:
        seen.append(lease.item.attempts)
        if len(seen) >= 3:
            return Done()
        return Again(5.0, "settling", effects=record(f"look {len(seen)}"))

    seen: list[int] = []
    await put(store, "a", "b")
    due = await drain.run(lane(handle), KEY)
    stored = await row(store, "a")
    assert (due, stored.state, stored.error) == (
        clock.now() + timedelta(seconds=5),
        "ready",
        "settling",
    )
    assert await pauses(drain, clock, lane(handle)) == [5.0, 5.0]
    assert seen == [1, 1, 1, 1]
    assert await recorded(store) == ["look 1", "look 2"]


async def test_again_may_count(store: Store, drain: Drain, clock: FakeClock) -> None:
    async def handle(lease: Lease) -> Outcome:
        seen.append(lease.item.attempts)
        return Again(1.0, "no answer", counted=True)

    seen: list[int] = []
    await put(store, "a")
    assert await pauses(drain, clock, lane(handle)) == [1.0] * BACKOFF.attempts
    assert seen == [1, 2, 3, 4]
    assert await recorded(store, "dead") == ["a: given up after 4 tries"]


async def test_dead_tells_somebody_in_the_same_transaction(store: Store, drain: Drain) -> None:
    async def handle(lease: Lease) -> Outcome:
        return Dead("blocked") if lease.item.dedupe == "a" else await finished(lease)

    await put(store, "a", "b")
    assert await drain.run(lane(handle), KEY) is None
    stored = await row(store, "a")
    assert (stored.state, stored.error) == ("dead", "blocked")
    assert (await recorded(store, "dead"), await recorded(store)) == (["a: blocked"], ["b"])


async def test_a_lane_may_have_nobody_to_tell(store: Store, drain: Drain) -> None:
    await put(store, "a")
    silent = lane(failing(GatewayError(code="no")), on_dead=None)
    assert await drain.run(silent, KEY) is None
    assert (await row(store, "a")).state == "dead"


# --- errors ----------------------------------------------------------------------------------


RETRY = GatewayError("x", code="flaky", disposition=Disposition.RETRY)
UNSURE = PlatformError("x", code="unsure", disposition=Disposition.AMBIGUOUS)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (RETRY, "flaky"),
        (UNSURE, "unsure"),
        (KeyError("a defect"), "internal"),
        (StoreError("disk I/O error"), "store"),
        (asyncio.CancelledError(), "internal"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
async def test_what_may_help_is_tried_again_then_given_up(
    store: Store, drain: Drain, clock: FakeClock, error: BaseException, code: str
) -> None:
    await put(store, "a", "b")
    assert await pauses(drain, clock, lane(failing(*[error] * 4))) == [2.0, 4.0, 8.0]
    stored = await row(store, "a")
    assert (stored.state, stored.attempts, stored.error) == ("dead", 4, code)
    assert (await recorded(store, "dead"), await recorded(store)) == ([f"a: {code}"], ["b"])


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (GatewayError("x"), "gateway"),
        (IllegalTransitionError("x"), "illegal_transition"),
        (PlatformError("x", code="internal"), "internal"),
    ],
)
async def test_what_cannot_help_is_given_up_at_once(
    store: Store, drain: Drain, error: GatewayError, code: str
) -> None:
    await put(store, "a")
    assert await drain.run(lane(failing(error)), KEY) is None
    assert await recorded(store, "dead") == [f"a: {code}"]


async def test_a_try_that_works_ends_the_trouble(
    store: Store, drain: Drain, clock: FakeClock
) -> None:
    await put(store, "a")
    assert await pauses(drain, clock, lane(failing(RETRY, RETRY))) == [2.0, 4.0]
    stored = await row(store, "a")
    assert (stored.state, stored.attempts, stored.error) == ("done", 3, "")


async def test_being_told_to_wait_is_no_failure(
    store: Store, drain: Drain, clock: FakeClock
) -> None:
    """However often: the other side will have it, only later; and never sooner than it asked."""
    told = [RateLimitedError(retry_after=seconds) for seconds in (30.0, 0.5, 1.0, 1.0, 1.0, 1.0)]
    await put(store, "a")
    assert await pauses(drain, clock, lane(failing(*told))) == [30.0, 2.0, 2.0, 2.0, 2.0, 2.0]
    stored = await row(store, "a")
    assert (stored.state, stored.attempts) == ("done", 1)


async def test_a_lock_of_others_is_no_failure_either(
    store: Store, drain: Drain, clock: FakeClock
) -> None:
    """H-58: somebody else's lock never costs a message its answer."""
    await put(store, "a")
    handle = failing(*[StoreBusyError()] * 6)
    assert await pauses(drain, clock, lane(handle)) == [2.0] * 6
    assert (await row(store, "a")).attempts == 1
    assert await recorded(store) == ["a"]


async def crash(store: Store, times: int) -> None:
    """Let the process die so often while the head runs."""
    for _ in range(times):
        await store.write(lambda tx: items.claim(tx, LANE, KEY, now=FakeClock().now()))


async def test_what_takes_the_process_down_each_time_is_given_up(
    store: Store, drain: Drain
) -> None:
    """H-57: it is not tried for ever."""
    await put(store, "a", "b")
    await crash(store, MOST)
    assert await drain.run(lane(), KEY) is None
    assert await recorded(store, "dead") == ["a: given up after 5 crashes"]
    assert await recorded(store) == ["b"]


async def test_a_suspect_runs_alone_or_not_at_all(store: Store, drain: Drain) -> None:
    """What stands behind it in its key is no suspect and left to the next run."""
    await put(store, "a", "b")
    await crash(store, COMPANY)
    assert await drain.run(lane(), KEY) == items.Suspect()
    assert ((await row(store, "a")).epoch, await recorded(store)) == (COMPANY, [])
    assert await drain.run(lane(), KEY, alone=True) is None
    assert await recorded(store) == ["a"]
    stored = await row(store, "a")
    assert (stored.state, stored.attempts, stored.crashes) == ("done", 1, COMPANY)
    assert await drain.run(lane(), KEY) is None
    assert await recorded(store) == ["a", "b"]


async def test_crashes_are_no_tries(store: Store, drain: Drain, clock: FakeClock) -> None:
    """A crash of another one's making leaves every try that was there."""
    await put(store, "a")
    await crash(store, COMPANY - 1)
    assert await pauses(drain, clock, lane(failing(*[RETRY] * 4))) == [2.0, 4.0, 8.0]
    assert await recorded(store, "dead") == ["a: flaky"]


async def test_patient_work_is_not_given_up_for_crashes(store: Store, drain: Drain) -> None:
    await put(store, "a")
    await crash(store, MOST * 10)
    assert await drain.run(lane(patient=True), KEY) is None
    assert await recorded(store) == ["a"]


# --- effects that break ----------------------------------------------------------------------


def broken(tx: Tx) -> None:
    record("half")(tx)
    raise LookupError("in the effects")


async def test_effects_that_break_are_a_failed_try(
    store: Store, drain: Drain, clock: FakeClock
) -> None:
    async def handle(_lease: Lease) -> Outcome:
        return Done(broken)

    await put(store, "a")
    assert await pauses(drain, clock, lane(handle)) == [2.0, 4.0, 8.0]
    assert await recorded(store) == []
    assert await recorded(store, "dead") == ["a: internal"]


async def test_effects_that_break_once_are_made_good(
    store: Store, drain: Drain, clock: FakeClock
) -> None:
    async def handle(lease: Lease) -> Outcome:
        return Done(broken) if lease.item.attempts == 1 else await finished(lease)

    await put(store, "a", "b")
    assert await pauses(drain, clock, lane(handle)) == [2.0, 2.0]
    assert await recorded(store) == ["a", "b"]


def fail(tx: Tx) -> None:
    now = FakeClock().now()
    held = items.claim(tx, LANE, KEY, now=now)
    assert isinstance(held, items.Item)
    items.put_back(tx, held, run_at=now)


async def test_a_death_that_cannot_be_told_does_not_block_the_key(
    store: Store, drain: Drain
) -> None:
    def on_dead(tx: Tx, _item: items.Item, _error: str) -> None:
        broken(tx)

    async def handle(lease: Lease) -> Outcome:
        if lease.item.dedupe == "a":
            raise GatewayError("x", code="no")
        return await finished(lease)

    await put(store, "a", "b")
    for _ in range(BACKOFF.attempts - 1):
        await store.write(fail)
    assert await drain.run(lane(handle, on_dead=on_dead), KEY) is None
    assert (await row(store, "a")).state == "dead"
    assert await recorded(store) == ["b"]


# --- taken over ------------------------------------------------------------------------------


async def steal(lease: Lease, now: datetime) -> None:
    await lease.store.write(lambda tx: items.claim(tx, LANE, KEY, now=now))


async def test_a_lease_writes_while_it_is_held(store: Store, drain: Drain) -> None:
    async def handle(lease: Lease) -> Outcome:
        await lease.write(record("on the way"), durable=True)
        return await finished(lease)

    await put(store, "a")
    assert await drain.run(lane(handle), KEY) is None
    assert await recorded(store) == ["on the way", "a"]


@pytest.mark.parametrize("writes", [True, False], ids=["writes", "concludes"])
async def test_who_was_taken_over_leaves_nothing_behind(
    store: Store, drain: Drain, clock: FakeClock, writes: bool
) -> None:
    async def handle(lease: Lease) -> Outcome:
        await steal(lease, clock.now())
        if writes:
            await lease.write(record("too late"))
        return Done(record("too late"))

    await put(store, "a", "b")
    assert await drain.run(lane(handle), KEY) is None
    stored = await row(store, "a")
    assert (stored.state, stored.epoch, await recorded(store)) == ("running", 2, [])
    assert (await row(store, "b")).state == "ready"


async def test_who_was_taken_over_does_not_bury(
    store: Store, drain: Drain, clock: FakeClock
) -> None:
    async def handle(lease: Lease) -> Outcome:
        await steal(lease, clock.now())
        raise GatewayError("x")

    await put(store, "a")
    assert await drain.run(lane(handle, on_dead=bury), KEY) is None
    assert ((await row(store, "a")).state, await recorded(store, "dead")) == ("running", [])
