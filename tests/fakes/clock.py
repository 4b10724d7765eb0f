"""A clock that a test moves by hand.

``await clock.advance(60)`` lets a minute pass: whoever sleeps is woken in the order of their
times, each at its own time, so one call sees a whole chain of short pauses. Work that waits for
something real in between (a thread, a file) has no place in that order: wait for it first, or
for its next sleep with ``await clock.until_sleeping(n)``.
"""

from __future__ import annotations

import asyncio
import heapq
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

#: passes through the event loop that woken code gets before the time moves on
_SETTLE = 20
#: a Sunday, so that "daily" and "weekly" are told apart
START = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


@dataclass(order=True, slots=True)
class _Sleeper:
    due: int
    number: int
    woken: asyncio.Future[None] = field(compare=False)


class FakeClock:
    """A ``gateway.ports.Clock``. Counts whole microseconds, as stored times do."""

    def __init__(self, start: datetime = START) -> None:
        self._start = start
        self._elapsed = 0
        self._number = 0
        self._sleepers: list[_Sleeper] = []
        self._changed = asyncio.Event()

    def now(self) -> datetime:
        """See ``gateway.ports.Clock``."""
        return self._start + timedelta(microseconds=self._elapsed)

    def monotonic(self) -> float:
        """See ``gateway.ports.Clock``."""
        return self._elapsed / 1e6

    async def sleep(self, seconds: float) -> None:
        """Return once the time was advanced by ``seconds``; at once (after a pass) for none."""
        if seconds <= 0:
            return await asyncio.sleep(0)
        self._number += 1
        due = self._elapsed + round(seconds * 1e6)
        sleeper = _Sleeper(due, self._number, asyncio.get_running_loop().create_future())
        heapq.heappush(self._sleepers, sleeper)
        self._changed.set()
        try:
            await sleeper.woken
        finally:
            if sleeper in self._sleepers:
                self._sleepers.remove(sleeper)
                heapq.heapify(self._sleepers)

    @property
    def pauses(self) -> list[float]:
        """Seconds until each present sleeper is due, the soonest first."""
        return [(sleeper.due - self._elapsed) / 1e6 for sleeper in sorted(self._sleepers)]

    async def advance(self, seconds: float) -> None:
        """Let time pass; returns when all that was due ran as far as it gets without waiting."""
        await _settle()
        end = self._elapsed + round(seconds * 1e6)
        while self._sleepers and self._sleepers[0].due <= end:
            sleeper = heapq.heappop(self._sleepers)
            self._elapsed = sleeper.due
            if not sleeper.woken.done():
                sleeper.woken.set_result(None)
            await _settle()
        self._elapsed = end
        await _settle()

    def jump(self, seconds: float) -> None:
        """Move the time without waking anybody, as when a machine was asleep or set its clock."""
        self._start += timedelta(seconds=seconds)

    async def until_sleeping(self, count: int = 1) -> None:
        """Wait (really, for threads and files) until ``count`` sleepers are there."""
        while len(self._sleepers) < count:
            self._changed.clear()
            await self._changed.wait()


async def _settle() -> None:
    for _ in range(_SETTLE):
        await asyncio.sleep(0)
