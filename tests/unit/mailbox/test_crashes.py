"""Whatever fails, waits or crashes, in whatever order: each item once, in order for its key."""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from gateway.mailbox import items
from gateway.mailbox.embedded import EmbeddedEngine
from gateway.mailbox.lanes import Again, Done
from gateway.model.errors import Disposition, GatewayError, StoreBusyError
from gateway.policy.retry import Backoff
from gateway.store.sqlite import SqliteStore
from gateway.store.tables import metadata
from tests.fakes.clock import FakeClock
from tests.fakes.fuzzing import THOROUGH
from tests.fakes.lanes import LANE, lane, record, recorded
from tests.fakes.store import NEVER, DeadError, Death, MortalStore

if TYPE_CHECKING:
    from gateway.mailbox.lanes import Lease, Outcome
    from gateway.store.engine import Store, Tx

#: a second between tries, for ever
STEADY = Backoff(first=1.0, factor=1.0, ceiling=1.0, jitter=0.0, attempts=1_000)
#: looks until a scenario that does not end is said to be stuck
PATIENCE = 500


@dataclass(frozen=True, slots=True)
class Message:
    """One item: its key, what its tries come to before the last, and what happens after it."""

    key: str
    tries: tuple[str, ...]
    settle: bool


class World:
    """One database over the lives of several processes."""

    def __init__(self, real: Store, plans: dict[str, list[str]], deaths: list[Death]) -> None:
        self.real = real
        self.plans = plans
        self.deaths = deaths
        self.clock = FakeClock()
        self._be_born()

    def _be_born(self) -> None:
        self.store = MortalStore(self.real, self.deaths.pop(0) if self.deaths else NEVER)
        self.engine = EmbeddedEngine(self.store, self.clock)

    async def start(self) -> None:
        """Start a process on what the last one left."""
        await self.engine.start([lane(self.handle, backoff=STEADY)])

    async def restart(self) -> None:
        """Bury a process that was killed, and start the next."""
        await self.engine.stop(0)
        self._be_born()
        await self.start()

    async def handle(self, lease: Lease) -> Outcome:
        """Do as the item's plan says, then leave its one effect."""
        plan, name = self.plans[lease.item.dedupe], lease.item.dedupe
        match plan.pop(0) if plan else "done":
            case "fail":
                raise GatewayError("x", disposition=Disposition.RETRY)
            case "defect":
                raise LookupError
            case "busy":
                raise StoreBusyError
            case "again":
                return Again(1.0)
            case "broken":
                return Done(_broken)
            case "step":
                await lease.write(record(name, "step"))
        return Done(record(name))

    async def put(self, name: str, key: str) -> None:
        """Hand an item in until it is taken, as a platform does that got no acknowledgement."""
        while True:
            try:
                await self.store.write(
                    lambda tx: self.engine.put(tx, LANE, key, dedupe=name, payload={})
                )
            except DeadError:
                await self.restart()
            else:
                return

    async def settle(self) -> None:
        """Let time pass and start processes anew until nothing is left to do."""
        for _ in range(PATIENCE):
            await self.engine.idle()
            if self.store.dead.is_set():
                await self.restart()
            elif await self.real.read(items.live_keys):
                await self.clock.advance(1.0)
            else:
                return
        pytest.fail("work is left that nobody takes up")


def _broken(tx: Tx) -> None:
    record("never", "handled")(tx)
    raise LookupError


async def _live_through(messages: list[Message], deaths: list[Death], path: Path) -> list[str]:
    real = SqliteStore(path, readers=1)
    metadata.create_all(real.engine)
    named = {f"{number}": message for number, message in enumerate(messages)}
    world = World(real, {name: list(one.tries) for name, one in named.items()}, list(deaths))
    await world.start()
    for name, message in named.items():
        await world.put(name, message.key)
        if message.settle:
            await world.settle()
    await world.settle()
    await world.engine.stop(0)
    effects = await recorded(real)
    await real.close()
    return effects


TRIES = st.lists(
    st.sampled_from(["fail", "defect", "busy", "again", "broken", "step"]), max_size=3
).map(tuple)
MESSAGES = st.lists(
    st.builds(Message, st.sampled_from("xyz"), TRIES, st.booleans()), min_size=1, max_size=6
)
DEATHS = st.lists(st.builds(Death, st.integers(1, 8), st.booleans()), max_size=4)


@settings(max_examples=40 if THOROUGH else 10)
@example([Message("x", ("step",), False)], [Death(write, True) for write in (2, 2, 2)])
@example([Message("x", ("fail", "broken"), False)] * 3, [Death(3, False)] * 4)
@given(MESSAGES, DEATHS)
def test_each_item_takes_effect_once_and_in_order(
    messages: list[Message], deaths: list[Death]
) -> None:
    with tempfile.TemporaryDirectory() as folder, capture_logs():
        effects = asyncio.run(_live_through(messages, deaths, Path(folder, "gateway.db")))
    assert sorted(effects, key=int) == [f"{number}" for number in range(len(messages))]
    for key in "xyz":
        ours = [name for name in effects if messages[int(name)].key == key]
        assert ours == sorted(ours, key=int)
