"""The typing sign: shown while a turn runs, gone when it ends, never in anybody's way."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import structlog

from gateway.model.errors import PlatformError, RateLimitedError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from gateway.model.outbound import Address
    from gateway.ports import Adapter, Clock

log = structlog.get_logger(__name__)

#: seconds before the first sign: a quick answer needs none
PATIENCE = 0.4
#: seconds after which a sign is given up even though its turn still runs
LONGEST = 300.0


@asynccontextmanager
async def typing(adapter: Adapter | None, address: Address, clock: Clock) -> AsyncIterator[None]:
    """Show that an answer is being written for as long as the block runs.

    The block never waits for the platform; after it, no further call is made.
    """
    if adapter is None or not adapter.capabilities.typing:
        yield
        return
    task = asyncio.create_task(_renew(adapter, address, clock), name="typing")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _renew(adapter: Adapter, address: Address, clock: Clock) -> None:
    await clock.sleep(PATIENCE)
    end = clock.monotonic() + LONGEST
    while clock.monotonic() < end:
        pause = adapter.capabilities.typing_seconds
        try:
            await adapter.typing(address)
        except RateLimitedError as error:
            pause = max(pause, error.retry_after or 0.0)
        except PlatformError as error:
            log.debug("typing.refused", action="typing", code=error.code)
            return
        await clock.sleep(pause)
