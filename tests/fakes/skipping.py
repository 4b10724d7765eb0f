"""A clock that moves only when somebody sleeps."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta


class SkippingClock:
    """``sleep`` advances the time at once and is remembered in ``slept``."""

    def __init__(self) -> None:
        self.elapsed = 1000.0
        self.slept: list[float] = []

    def now(self) -> datetime:
        return datetime(2026, 11, 29, tzinfo=UTC) + timedelta(seconds=self.elapsed)

    def monotonic(self) -> float:
        return self.elapsed

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.elapsed += seconds
        await asyncio.sleep(0)
