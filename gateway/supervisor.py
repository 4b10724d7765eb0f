"""Start, stop and restart order: nothing is received before the core works, and on the way
down nothing more is received while what was accepted is still being answered.
"""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING, Any

import structlog

from gateway.policy.retry import Backoff

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from gateway.mailbox.embedded import EmbeddedEngine
    from gateway.mailbox.lanes import Lane
    from gateway.ports import Adapter, Clock, Intake

log = structlog.get_logger(__name__)

#: seconds that running work gets when the gateway is told to stop
GRACE = 10.0
#: pauses between restarts of an adapter that broke
RESTART = Backoff(first=1.0, factor=2.0, ceiling=60.0, jitter=0.2, attempts=1_000_000)


class Supervisor:
    """Runs the parts of one process until told to stop, or until nothing can come any more."""

    def __init__(
        self,
        engine: EmbeddedEngine,
        lanes: Sequence[Lane],
        adapters: Sequence[Adapter],
        *,
        intake: Intake,
        clock: Clock,
        background: Sequence[Callable[[], Coroutine[object, object, None]]] = (),
    ) -> None:
        self._engine = engine
        self._lanes = lanes
        self._adapters = adapters
        self._intake = intake
        self._clock = clock
        self._background = background

    async def run(self, stop: asyncio.Event) -> None:
        """Run until ``stop`` is set or every adapter's source has ended for good."""
        await self._engine.start(self._lanes)
        receiving = [
            asyncio.create_task(self._receive(adapter), name=f"receive {adapter.platform}")
            for adapter in self._adapters
        ]
        background = [asyncio.create_task(work()) for work in self._background]
        try:
            await self._until_over(receiving, stop)
        finally:
            await _cancel(receiving)
            log.info("gateway.stopping", action="stop")
            await self._engine.stop(GRACE)
            await _cancel(background)
            for adapter in self._adapters:
                await adapter.aclose()

    async def _until_over(
        self, receiving: Sequence[asyncio.Task[None]], stop: asyncio.Event
    ) -> None:
        stopped = asyncio.create_task(stop.wait(), name="stop")
        ended = asyncio.create_task(_all_done(receiving), name="sources")
        try:
            await asyncio.wait({stopped, ended}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await _cancel([stopped, ended])
        if not stop.is_set():
            await self._engine.idle()

    async def _receive(self, adapter: Adapter) -> None:
        attempt = 0
        while True:
            started = self._clock.monotonic()
            try:
                await adapter.run(self._intake)
                return
            except Exception:
                # One platform's defect must not take the others down.
                log.exception("adapter.broke", action="receive", platform=adapter.platform)
            attempt = 1 if self._clock.monotonic() - started > RESTART.ceiling else attempt + 1
            pause = RESTART.delay(attempt, roll=random.random())  # noqa: S311 - no secret
            await self._clock.sleep(pause or RESTART.ceiling)


async def _all_done(tasks: Sequence[asyncio.Task[None]]) -> None:
    if not tasks:
        await asyncio.Event().wait()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _cancel(tasks: Sequence[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
