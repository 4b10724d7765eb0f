"""A whole gateway in one home: real store, engine and Telegram adapter, scripted agent."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from gateway import app
from gateway.ops.logs import Redactor
from tests.fakes.clock import FakeClock
from tests.fakes.household import Household

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.emulators.telegram import TelegramEmulator
    from tests.fakes.agent import ScriptedAgent

#: seconds of the gateway in one step of its clock, and real seconds between two steps
STEP, PACE = 0.1, 0.002
#: at most so many seconds of the gateway pass in a real one
SPEED = STEP / PACE


class House(Household):
    """A home whose gateway is started as often as a test likes."""

    def __init__(self, folder: Path, tg: TelegramEmulator, agent: ScriptedAgent) -> None:
        super().__init__(folder, tg)
        self.agent = agent
        self.clock = FakeClock(datetime.now(UTC))
        self.model = "test:script"
        self.redactor = Redactor(())

    def assemble(self, *, platforms: bool = True) -> app.Gateway:
        """Put a gateway together as ``hermes-gateway run`` does, without a console."""
        loaded = app.load(self.home, {})
        start = app.Start(
            self.home,
            loaded,
            lambda _tools: self.agent,
            platforms=platforms,
            clock=self.clock,
            describe_model=lambda: self.model,
            redactor=self.redactor,
        )
        return app.assemble(start)

    @asynccontextmanager
    async def running(self, *, platforms: bool = True) -> AsyncIterator[app.Gateway]:
        """Run a gateway for as long as the block, then stop it as SIGTERM does."""
        gateway, stop = self.assemble(platforms=platforms), asyncio.Event()
        pump = asyncio.create_task(_pump(self.clock))
        run = asyncio.create_task(gateway.run(stop))
        try:
            yield gateway
        finally:
            stop.set()
            try:
                await asyncio.wait_for(run, 15)
            finally:
                pump.cancel()
                await asyncio.gather(pump, return_exceptions=True)

    async def runs(self, count: int) -> None:
        """Wait until the agent was called so often."""
        agent = self.agent
        await self.until(
            lambda: len(agent.runs) >= count, f"{count} runs, had {[r.texts for r in agent.runs]}"
        )


def mention(text: str = "") -> str:
    """Return a text that speaks to the bot in a group."""
    return f"@gate_bot {text}"


def steps_of(house: House, step: str) -> list[tuple[Any, ...]]:
    """Return (status, detail) of a step in every turn."""
    return house.rows("SELECT status, detail FROM checkpoint WHERE step = ? ORDER BY id", step)


def user_rows(house: House) -> list[tuple[Any, ...]]:
    """Return (peer, text) of what people said."""
    found = house.ledger("m.role, l.peer, m.text")
    return [(peer, text) for role, peer, text in found if role == "user"]


async def _pump(clock: FakeClock) -> None:
    while True:
        await clock.advance(STEP)
        await asyncio.sleep(PACE)
