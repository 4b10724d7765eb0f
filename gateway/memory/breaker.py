"""Leaves a memory service alone that keeps failing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway.model.errors import (
    Disposition,
    MemoryCredentialsError,
    MemoryLimitedError,
    MemoryServiceError,
    MemoryUnavailableError,
)

if TYPE_CHECKING:
    from gateway.ports import Clock

#: failures in a row until the service is left alone
THRESHOLD = 5
#: seconds of the first pause and of the longest
FIRST, LONGEST = 30.0, 300.0
#: seconds after which a probe that never came back is forgotten
PROBE = 60.0


@dataclass(frozen=True, slots=True)
class BreakerState:
    """What ``status`` and a trace say of the service."""

    #: nothing is asked for so many seconds; 0.0 when it may be asked
    pause: float
    #: failures in a row
    failures: int
    #: code of the last failure, "" after a success
    code: str


class Breaker:
    """Counts failures in a row; after a pause one request is let through to look."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._failures = 0
        self._pause = 0.0
        self._until = 0.0
        self._last: MemoryServiceError | None = None

    @property
    def state(self) -> BreakerState:
        """How it stands now."""
        code = self._last.code if self._last is not None else ""
        return BreakerState(self._remaining(), self._failures, code)

    def check(self) -> None:
        """Raise while the service is left alone, with the seconds as ``retry_after``."""
        remaining = self._remaining()
        if remaining > 0:
            raise self._closed(remaining)
        if self._pause:
            self._until = self._clock.monotonic() + PROBE

    def succeeded(self) -> None:
        """The service answered, be it with a refusal."""
        self._failures, self._pause, self._until, self._last = 0, 0.0, 0.0, None

    def failed(self, error: MemoryServiceError) -> None:
        """A request came to ``error``; one that says that the service is well is a success."""
        if _answered(error):
            self.succeeded()
            return
        self._failures += 1
        self._last = error
        if self._failures >= THRESHOLD or self._pause or _locked_out(error):
            self._pause = min(LONGEST, self._pause * 2 or FIRST)
            self._until = self._clock.monotonic() + self._pause

    def _remaining(self) -> float:
        return max(0.0, self._until - self._clock.monotonic())

    def _closed(self, remaining: float) -> MemoryServiceError:
        if self._last is not None and _locked_out(self._last):
            return MemoryCredentialsError(str(self._last), retry_after=remaining)
        return MemoryUnavailableError(
            f"the memory service is left alone for {remaining:.0f} s after it failed "
            f"{self._failures} times in a row",
            code="memory_paused",
            retry_after=remaining,
        )


def _answered(error: MemoryServiceError) -> bool:
    if isinstance(error, MemoryLimitedError):
        return True
    return error.disposition is Disposition.GIVE_UP and not _locked_out(error)


def _locked_out(error: MemoryServiceError) -> bool:
    return isinstance(error, MemoryCredentialsError)
