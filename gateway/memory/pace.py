"""So many requests a second and no more: work in the background leaves the service its breath."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gateway.ports import Clock


class Pace:
    """Called before each request; waits until it may be made, and counts it."""

    def __init__(self, clock: Clock, per_second: float) -> None:
        self._clock = clock
        self._pause = 1.0 / per_second
        self._free = 0.0
        self.requests = 0

    async def __call__(self) -> None:
        """Return when the next request may go."""
        now = self._clock.monotonic()
        start = max(now, self._free)
        self._free = start + self._pause
        self.requests += 1
        if start > now:
            await self._clock.sleep(start - now)
