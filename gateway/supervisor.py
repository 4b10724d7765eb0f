"""Start, stop and restart order: nothing is received before the core works, and on the way
down nothing more is received while what was accepted is still being answered.
"""

from __future__ import annotations

import asyncio
import random
from functools import partial
from typing import TYPE_CHECKING, Any

import structlog

from gateway.model.errors import GatewayError
from gateway.policy.retry import Backoff

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping, Sequence

    from gateway.mailbox.embedded import EmbeddedEngine
    from gateway.mailbox.lanes import Lane
    from gateway.ports import Adapter, Clock, Intake

    Work = Callable[[], Coroutine[object, object, None]]

log = structlog.get_logger(__name__)

#: seconds that running work gets when the gateway is told to stop
GRACE = 10.0
#: pauses between restarts of a part that broke
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
        background: Mapping[str, Work],
        before_stop: Work | None = None,
    ) -> None:
        """``before_stop`` says what is to be finished in the grace that follows."""
        self._engine = engine
        self._lanes = lanes
        self._adapters = adapters
        self._intake = intake
        self._clock = clock
        self._background = background
        self._before_stop = before_stop

    async def run(self, stop: asyncio.Event) -> None:
        """Run until ``stop`` is set or every adapter's source has ended for good."""
        await self._engine.start(self._lanes)
        receiving = [
            self._start(f"receive {each.platform}", partial(each.run, self._intake))
            for each in self._adapters
        ]
        background = [self._start(part, work) for part, work in self._background.items()]
        try:
            await self._until_over(receiving, stop)
        finally:
            await _cancel(receiving)
            log.info("gateway.stopping", action="stop")
            await self._prepare_stop()
            await self._engine.stop(GRACE)
            await _cancel(background)
            for adapter in self._adapters:
                await adapter.aclose()

    async def _prepare_stop(self) -> None:
        if self._before_stop is None:
            return
        try:
            await self._before_stop()
        except GatewayError as error:
            log.error("gateway.unprepared", action="stop", code=error.code, error=str(error))

    def _start(self, part: str, work: Work) -> asyncio.Task[None]:
        return asyncio.create_task(self._keep_up(part, work), name=part)

    async def _until_over(
        self, receiving: Sequence[asyncio.Task[None]], stop: asyncio.Event
    ) -> None:
        stopped = asyncio.create_task(stop.wait(), name="stop")
        ended = asyncio.create_task(self._ended(receiving), name="sources")
        try:
            await asyncio.wait({stopped, ended}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await _cancel([stopped, ended])

    async def _ended(self, receiving: Sequence[asyncio.Task[None]]) -> None:
        """Return when nothing can come any more and what came is done."""
        if not receiving:
            await asyncio.Event().wait()
        await asyncio.gather(*receiving, return_exceptions=True)
        await self._engine.idle()

    async def _keep_up(self, part: str, work: Work) -> None:
        attempt = 0
        while True:
            started = self._clock.monotonic()
            try:
                await work()
                return
            except Exception:
                # One part's defect must not take the others down.
                log.exception("part.broke", action="supervise", part=part)
            attempt = 1 if self._clock.monotonic() - started > RESTART.ceiling else attempt + 1
            pause = RESTART.delay(attempt, roll=random.random())  # noqa: S311 - no secret
            await self._clock.sleep(pause or RESTART.ceiling)


async def _cancel(tasks: Sequence[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
