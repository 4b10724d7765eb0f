"""The real time."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime


class SystemClock:
    """The ``Clock`` of a running gateway."""

    def now(self) -> datetime:
        """See ``gateway.ports.Clock``."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """See ``gateway.ports.Clock``."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """See ``gateway.ports.Clock``."""
        await asyncio.sleep(seconds)
