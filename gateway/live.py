"""Answers shown while they are written: one pace, one end, whatever the platform.

An adapter says how a text is shown once; ``Live`` says when. Where a message is shown that the
answer's first part takes over, ``Board`` knows which.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from gateway.model.errors import Disposition, PlatformError, RateLimitedError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from gateway.model.ids import MessageId, PlaceId, TurnId
    from gateway.model.outbound import Address
    from gateway.ports import Clock

log: structlog.stdlib.BoundLogger = structlog.get_logger()

#: seconds that the end of a preview may wait for a call that is under way
FAREWELL = 2.0
#: most turns that a board keeps; those that never ended well are forgotten first
_MOST = 1_000


class Rhythm:
    """When each place may be called for a preview again; one for all previews of an account."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._free_at: dict[PlaceId, float] = {}

    async def wait(self, place: PlaceId) -> None:
        """Return when a place may be called; whoever is woken first goes first."""
        while (left := self._free_at.get(place, 0.0) - self._clock.monotonic()) > 0:
            free_at = self._free_at[place]
            await self._clock.sleep(left)
            if self._free_at.get(place, 0.0) <= free_at:
                return

    def rest(self, place: PlaceId, seconds: float) -> None:
        """Leave a place alone for some seconds; a shorter rest never ends a longer one."""
        now = self._clock.monotonic()
        self._free_at = {each: until for each, until in self._free_at.items() if until > now}
        self._free_at[place] = max(self._free_at.get(place, 0.0), now + seconds)


class Live:
    """A running answer; a ``gateway.ports.Preview``. Trouble with it is nobody's trouble.

    ``show`` shows one text and raises ``PlatformError``. A rate limit is waited out, a refusal
    ends the preview, and so does an unknown outcome unless ``repeatable`` calls may be made
    again. The last text is all that is kept: what came before it is skipped.
    """

    def __init__(
        self,
        show: Callable[[str], Awaitable[None]],
        rhythm: Rhythm,
        place: PlaceId,
        *,
        pause: float,
        repeatable: bool = False,
    ) -> None:
        self._show = show
        self._rhythm = rhythm
        self._place = place
        self._pause = pause
        self._repeatable = repeatable
        self._text = ""
        self._fresh = asyncio.Event()
        self._closing = False
        self._calling = False
        self._task: asyncio.Task[None] | None = None

    def update(self, text: str) -> None:
        """Show ``text`` as soon as the place's rhythm allows; a short answer is there sooner."""
        self._text = text
        self._fresh.set()
        if self._task is None and not self._closing:
            self._rhythm.rest(self._place, self._pause)
            self._task = asyncio.create_task(self._run(), name="preview")

    async def close(self) -> None:
        """Stop showing; a call that is under way is waited for, but not long."""
        self._closing = True
        if self._task is None:
            return
        if self._calling:
            await asyncio.wait({self._task}, timeout=FAREWELL)
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        while await self._due():
            try:
                await self._call()
            except RateLimitedError as error:
                self._fresh.set()
                self._rhythm.rest(self._place, max(error.retry_after or 0.0, self._pause))
            except PlatformError as error:
                log.info("preview.trouble", action="preview", place=self._place, code=error.code)
                if self._ends(error):
                    return

    async def _due(self) -> bool:
        """Wait for words and for the place's rhythm, whichever is later; False: it is over."""
        if not self._closing:
            await self._fresh.wait()
            await self._rhythm.wait(self._place)
        return not self._closing

    async def _call(self) -> None:
        self._fresh.clear()
        self._rhythm.rest(self._place, self._pause)
        self._calling = True
        try:
            await self._show(self._text)
        finally:
            self._calling = False

    def _ends(self, error: PlatformError) -> bool:
        open_ = error.disposition is Disposition.AMBIGUOUS
        return error.disposition is Disposition.GIVE_UP or (open_ and not self._repeatable)


@dataclass(slots=True)
class Shown:
    """The message in which a turn's answer is shown; its first part takes it over."""

    address: Address
    message: MessageId | None = None
    #: a post whose outcome is unknown: the message may stand there all the same
    lost: bool = False
    #: a part may have taken it over: it is no preview that could be removed
    taken: bool = False
    #: what had to give way when it was posted, as in a ``Receipt``
    degraded: tuple[str, ...] = ()

    async def post(self, sending: Awaitable[MessageId]) -> None:
        """Await the one post. Raises ``PlatformError``; ``lost`` holds after a cancel too."""
        self.lost = True
        try:
            self.message = await sending
        except PlatformError as error:
            self.lost = error.disposition is Disposition.AMBIGUOUS
            raise
        self.lost = False


class Board:
    """Which turns are being shown, in this process."""

    def __init__(self) -> None:
        self._shown: dict[TurnId, Shown] = {}

    def open(self, turn: TurnId, address: Address) -> Shown:
        """Return the turn's message: the same one when the turn is run again."""
        while len(self._shown) >= _MOST:
            self._shown.pop(next(iter(self._shown)))
        return self._shown.setdefault(turn, Shown(address))

    def find(self, turn: TurnId | None) -> Shown | None:
        """Return the message that awaits the turn's first part."""
        return None if turn is None else self._shown.get(turn)

    def settle(self, turn: TurnId | None) -> None:
        """Forget a turn: its first part is delivered."""
        if turn is not None:
            self._shown.pop(turn, None)

    def standing(self) -> list[Shown]:
        """Return the messages that no part has taken over."""
        standing = (shown for shown in self._shown.values() if shown.message is not None)
        return [shown for shown in standing if not shown.taken]
