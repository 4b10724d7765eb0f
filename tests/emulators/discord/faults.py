"""What is made to go wrong, and the rate limits."""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from tests.emulators.discord.errors import rate_limited

if TYPE_CHECKING:
    from collections.abc import Container

    from tests.emulators.discord.errors import ApiError


class FaultKind(StrEnum):
    """How one request goes wrong."""

    #: refused before the work
    ERROR = "error"
    #: the connection breaks before the work
    DROP = "drop"
    #: answered with a page that is not the API's, before the work
    PAGE = "page"
    #: the work is done, the connection breaks instead of an answer
    LOSE = "lose"
    #: the work and the answer come late
    SLOW = "slow"


BEFORE_THE_WORK = frozenset({FaultKind.ERROR, FaultKind.DROP, FaultKind.PAGE})


@dataclass(slots=True)
class Fault:
    """One planned fault for the next ``times`` requests of ``route`` (in ``channel``, if set)."""

    kind: FaultKind
    route: str
    times: int = 1
    channel: str | None = None
    error: ApiError | None = None
    seconds: float = 0.0
    status: int = 200
    #: Discord's own refusals carry ``Via``; Cloudflare's do not
    via: bool = True

    def concerns(self, route: str, channel: str) -> bool:
        """Return whether this fault is for such a request."""
        return self.times > 0 and self.route == route and self.channel in (None, channel)


class Faults:
    """Planned faults, used up in the order in which they were planned."""

    def __init__(self) -> None:
        self._planned: list[Fault] = []

    def plan(self, fault: Fault) -> None:
        """Add a fault."""
        self._planned.append(fault)

    def take(self, kinds: Container[FaultKind], route: str, channel: str = "") -> Fault | None:
        """Use up one matching fault."""
        for fault in self._planned:
            if fault.kind in kinds and fault.concerns(route, channel):
                fault.times -= 1
                return fault
        return None


class Buckets:
    """Rate limits per route and channel, told in headers before they refuse anything."""

    def __init__(self) -> None:
        #: route → (requests, seconds); what is not named gets ``(50, 1.0)``
        self.rules: dict[str, tuple[int, float]] = {}
        self._windows: dict[tuple[str, str], tuple[float, int]] = {}

    def spend(self, route: str, channel: str) -> None:
        """Count a request, or raise 429 when its bucket is empty."""
        limit, seconds = self._rule(route)
        now = time.monotonic()
        ends, used = self._windows.get((route, channel), (0.0, 0))
        if now >= ends:
            ends, used = now + seconds, 0
        if used >= limit:
            raise rate_limited(round(ends - now, 3))
        self._windows[route, channel] = (ends, used + 1)

    def headers(self, route: str, channel: str) -> dict[str, str]:
        """Return what Discord tells about the bucket."""
        limit, seconds = self._rule(route)
        now = time.monotonic()
        ends, used = self._windows.get((route, channel), (now + seconds, 0))
        left = max(0.0, ends - now)
        return {
            "X-RateLimit-Bucket": f"bucket-{route}",
            "X-RateLimit-Limit": str(limit),
            "X-RateLimit-Remaining": str(max(0, limit - used)),
            "X-RateLimit-Reset": f"{time.time() + left:.3f}",
            "X-RateLimit-Reset-After": f"{left:.3f}",
        }

    def _rule(self, route: str) -> tuple[int, float]:
        return self.rules.get(route, (50, 1.0))
