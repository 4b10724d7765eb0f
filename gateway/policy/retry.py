"""When to try again."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Backoff:
    """Growing pauses between tries; all times in seconds."""

    first: float
    factor: float
    ceiling: float
    #: share of a pause that chance may take off, 0 to 1
    jitter: float
    #: most tries, the first one included
    attempts: int

    def __post_init__(self) -> None:
        if not (0 < self.first <= self.ceiling and self.factor >= 1):
            raise ValueError("a backoff needs 0 < first <= ceiling and factor >= 1")
        if not (0 <= self.jitter <= 1 and self.attempts >= 1):
            raise ValueError("a backoff needs jitter from 0 to 1 and attempts >= 1")

    def delay(
        self, attempt: int, *, retry_after: float | None = None, roll: float
    ) -> float | None:
        """Return the pause after the ``attempt``-th try failed (1 is the first); None: give up.

        ``retry_after`` is what the other side asked for: never sooner than that, and no reason
        to give up, since being told to wait is not a failure. ``roll`` is chance, 0 to 1.
        """
        if retry_after is None and attempt >= self.attempts:
            return None
        pause = self._grown(attempt) * (1 - self.jitter * roll)
        return max(pause, retry_after or 0.0)

    def _grown(self, attempt: int) -> float:
        try:
            return min(self.ceiling, self.first * float(self.factor) ** (attempt - 1))
        except OverflowError:
            return self.ceiling
