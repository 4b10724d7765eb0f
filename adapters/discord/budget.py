"""How often a session may be begun: Discord resets the token of a bot that overdoes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.model.errors import RateLimitedError
from gateway.policy.ratelimit import Pace, PaceRules, Quota, next_slot, record

if TYPE_CHECKING:
    from adapters.discord.client import SessionLimit
    from gateway.ports import Clock

#: Discord allows 1000.
PER_DAY = 900
RULES = PaceRules(private=(), group=(), overall=(Quota(1, 5.0), Quota(PER_DAY, 86_400.0)))
#: sessions that are left to the operator's next start
RESERVE = 20
#: seconds that are slept here; longer waits are reported
LONGEST_SLEEP = 6.0

_SESSION = "session"


class Budget:
    """The sessions of one bot. Discord's own count covers earlier processes too."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._pace = Pace()

    async def take(self, left: SessionLimit) -> None:
        """Return when one more session may begin, and count it.

        Raises ``RateLimitedError``, without counting, when that is more than seconds away.
        """
        if left.remaining <= RESERVE:
            raise _exhausted(left.reset_after)
        now = self._clock.monotonic()
        wait = next_slot(self._pace, _SESSION, now, group=False, rules=RULES) - now
        if wait > LONGEST_SLEEP:
            raise _exhausted(wait)
        if wait > 0:
            await self._clock.sleep(wait)
        self._pace = record(self._pace, _SESSION, self._clock.monotonic(), rules=RULES)


def _exhausted(wait: float) -> RateLimitedError:
    return RateLimitedError(
        f"the day's sessions are used up: the next one begins in {wait / 60:.0f} minutes",
        retry_after=wait,
    )
