"""One item that takes the process down each time: it alone is given up."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from structlog.testing import capture_logs

from gateway.mailbox.embedded import EmbeddedEngine
from gateway.policy.crashes import COMPANY, MOST
from tests.fakes.lanes import finished, lane, put, recorded, row
from tests.fakes.store import NEVER, MortalStore

if TYPE_CHECKING:
    from gateway.mailbox.lanes import Lease, Outcome
    from tests.fakes.clock import FakeClock
    from tests.fakes.store import FaultyStore

POISON = "poison"
#: seconds that everybody else takes
WORK = 1.0


class Life:
    """One process on what the last one left; killed by the poison, or from without."""

    def __init__(self, store: FaultyStore, clock: FakeClock, concurrency: int = 64) -> None:
        self.store = MortalStore(store, NEVER)
        self.clock = clock
        self.engine = EmbeddedEngine(self.store, clock)
        self.lane = lane(self.handle, concurrency=concurrency)
        self.begun: list[str] = []

    async def handle(self, lease: Lease) -> Outcome:
        self.begun.append(lease.item.dedupe)
        if lease.item.dedupe == POISON:
            self.store.dead.set()
        await self.clock.sleep(WORK)
        return await finished(lease)

    async def live(self, kill_after: int | None = None) -> bool:
        """Live until killed (True) or until nothing is left to do."""
        with capture_logs():
            await self.engine.start([self.lane])
            working = asyncio.create_task(self.engine.idle())
            while not (working.done() or self.store.dead.is_set()):
                await asyncio.wait([working], timeout=0.01)
                if kill_after is not None and len(self.begun) >= kill_after:
                    self.store.dead.set()
                elif not self.store.dead.is_set():
                    await self.clock.advance(WORK)
            await self.engine.stop(0)
            await working
        return self.store.dead.is_set()


@pytest.mark.parametrize("place", [0, 3, 6])
async def test_only_what_kills_is_given_up(
    store: FaultyStore, clock: FakeClock, place: int
) -> None:
    names = [f"{number}" for number in range(6)]
    for name in [*names[:place], POISON, *names[place:]]:
        await put(store, name, key=name)
    lives = 1
    while await Life(store, clock).live():
        lives += 1
    assert lives == MOST + 1
    assert await recorded(store, "dead") == [f"{POISON}: given up after {MOST} crashes"]
    assert sorted(await recorded(store)) == names
    for name in names:
        stored = await row(store, name)
        assert (stored.state, stored.attempts) == ("done", 1)
        assert stored.crashes <= COMPANY


async def test_newcomers_need_not_wait_for_suspects(store: FaultyStore, clock: FakeClock) -> None:
    """Suspects wait outside the lane's room, however small it is."""
    for name in ("a", "b", "c"):
        await put(store, name, key=name)
    for _ in range(COMPANY):
        assert await Life(store, clock).live(kill_after=3)
    await put(store, "new", key="new")
    life = Life(store, clock, concurrency=2)
    assert not await life.live()
    assert set(life.begun[:2]) == {"a", "new"}
    assert life.begun[2:] == ["b", "c"]
    assert sorted(await recorded(store)) == ["a", "b", "c", "new"]


async def test_kills_from_without_give_nothing_up(store: FaultyStore, clock: FakeClock) -> None:
    """Each start gets something done, so nobody is there at so many."""
    names = [f"{number}" for number in range(4)]
    for name in names:
        await put(store, name, key=name)
    for count in (4, 4, 2, 2, 2):
        await Life(store, clock).live(kill_after=count)
    assert not await Life(store, clock).live()
    assert sorted(await recorded(store)) == names
    assert await recorded(store, "dead") == []
