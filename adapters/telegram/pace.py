"""How fast one bot may write: waits a moment, or says when to come back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.model.errors import RateLimitedError
from gateway.policy.ratelimit import Bucket, Pace, PaceRules, Quota, next_slot, pause, record

if TYPE_CHECKING:
    from gateway.model.ids import PlaceId
    from gateway.ports import Clock

RULES = PaceRules()
#: leaves most of a busy group's minute, and of the bot's second, to messages
TYPING_RULES = PaceRules(
    private=(Bucket(1.0, 2),),
    group=(Bucket(1.0, 2), Quota(10, 60.0)),
    overall=(Quota(20, 1.0),),
)

#: as for typing, but an answer in a group keeps at least five messages of its minute
PREVIEW_RULES = PaceRules(
    private=(Bucket(1.0, 2),),
    group=(Bucket(1.0, 2), Quota(15, 60.0)),
    overall=(Quota(20, 1.0),),
)

#: seconds that are slept here; the mailbox keeps longer waits, over a restart too
LONGEST_SLEEP = 1.1
#: a shorter sleep is as good as none: sums of times are off by a hair, and the loop would spin
SHORTEST_SLEEP = 0.001


def is_group(place: PlaceId) -> bool:
    """Tell a group or channel from a person's own chat: Telegram gives them numbers below 0."""
    return place.startswith("-")


class Pacer:
    """The limits of one bot. A wait in one chat holds up no other chat."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._pace = Pace()

    async def take_turn(self, place: PlaceId) -> None:
        """Return when ``place`` may be written to, and count it; raises as ``ready``."""
        await self.ready(place)
        self._count(place)

    async def ready(self, place: PlaceId) -> None:
        """Return when ``place`` may be written to.

        Raises ``RateLimitedError`` when that is more than about a second away.
        """
        while (wait := self._wait(place, RULES)) > 0:
            if wait > LONGEST_SLEEP:
                raise RateLimitedError(
                    "this chat is paused: Telegram's limit on messages", retry_after=wait
                )
            await self._clock.sleep(max(wait, SHORTEST_SLEEP))

    def try_typing(self, place: PlaceId) -> bool:
        """Count a typing sign and return True, or return False when it should be left out."""
        return self._try(place, TYPING_RULES)

    def try_preview(self, place: PlaceId) -> bool:
        """Count one showing of a preview and return True, or False when it must be skipped."""
        return self._try(place, PREVIEW_RULES)

    def obey(self, place: PlaceId, error: RateLimitedError) -> None:
        """Keep silent for as long as Telegram asked."""
        until = self._clock.monotonic() + (error.retry_after or 0.0)
        self._pace = pause(self._pace, None if error.whole_account else place, until)

    def _try(self, place: PlaceId, rules: PaceRules) -> bool:
        if self._wait(place, rules) > 0:
            return False
        self._count(place)
        return True

    def _wait(self, place: PlaceId, rules: PaceRules) -> float:
        now = self._clock.monotonic()
        return next_slot(self._pace, place, now, group=is_group(place), rules=rules) - now

    def _count(self, place: PlaceId) -> None:
        self._pace = record(self._pace, place, self._clock.monotonic(), rules=RULES)
