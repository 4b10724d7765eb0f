"""What was said while nobody listened: read back from the channels, in order, and taken in."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import structlog

from adapters.slack.drafts import key_of
from adapters.slack.fields import moment, order
from adapters.slack.preview import previewed_turn
from gateway.model.errors import Disposition, PlatformError, RateLimitedError, StoreError
from gateway.model.ids import MessageId, ThreadId

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import datetime

    from adapters.slack.client import Client
    from adapters.slack.inlet import Inlet
    from gateway.model.ids import PlaceId, TurnId
    from gateway.ports import Clock

    Sweep = Callable[[PlaceId, MessageId, TurnId], Awaitable[None]]

log: structlog.stdlib.BoundLogger = structlog.get_logger()

#: read again, for events that were not acknowledged in the order of their ts
_OVERLAP = timedelta(minutes=10)
#: older messages are not answered any more
_OLDEST = timedelta(hours=24)
#: earlier messages of a channel that are looked at for threads that went on
_ROOTS = 200


class CatchUp:
    """Reads one team's channels back. What was stored before is dropped by the intake."""

    def __init__(self, client: Client, inlet: Inlet, clock: Clock, *, sweep: Sweep) -> None:
        """``sweep`` is told of previews among what is read back."""
        self._client = client
        self._inlet = inlet
        self._clock = clock
        self._sweep = sweep

    async def run(self, cursor: str) -> None:
        """Take in everything since ``cursor``, a ts.

        Raises ``PlatformError`` or ``StoreError`` when it has to be done again.
        """
        now = self._clock.now()
        since = max(_ts(now - _OLDEST), _before(cursor), key=order)
        for place in await self._client.channels():
            missed = await self._missed(place, since)
            stored = await asyncio.gather(*(self._inlet.put(each) for each in missed))
            if not all(stored):
                raise StoreError("messages that were read back could not be stored")

    async def _missed(self, place: PlaceId, since: str) -> list[dict[str, Any]]:
        while True:
            try:
                found = await self._read(place, since)
            except RateLimitedError as error:
                await self._clock.sleep(error.retry_after or 1.0)
            except PlatformError as error:
                if error.disposition is not Disposition.GIVE_UP or error.code == "credentials":
                    raise
                log.warning("slack.not_read_back", action="catch-up", code=error.code)
                return []
            else:
                await self._tidy(place, found)
                return [self._payload(place, message) for message in found]

    async def _tidy(self, place: PlaceId, found: list[dict[str, Any]]) -> None:
        for message in found:
            turn = previewed_turn(key_of(message))
            if turn is not None:
                await self._sweep(place, MessageId(str(message["ts"])), turn)

    async def _read(self, place: PlaceId, since: str) -> list[dict[str, Any]]:
        """Return the messages since ``since``, those in threads that began earlier too."""
        found, earlier = [], 0
        oldest = _ts(self._clock.now() - _OLDEST)
        async for message in self._client.history(place, oldest):
            if order(str(message.get("ts"))) > order(since):
                found.append(message)
            else:
                earlier += 1
            if order(str(message.get("latest_reply"))) > order(since):
                found += await self._thread(place, ThreadId(str(message["ts"])), since)
            if earlier >= _ROOTS:
                break
        return found

    async def _thread(self, place: PlaceId, root: ThreadId, since: str) -> list[dict[str, Any]]:
        replies = [message async for message in self._client.replies(place, root, since)]
        return [message for message in replies if order(str(message.get("ts"))) > order(since)]

    def _payload(self, place: PlaceId, message: dict[str, Any]) -> dict[str, Any]:
        """Return a message read back in the form in which events bring it."""
        event = {**message, "type": "message", "channel": place}
        return {"team_id": self._inlet.view.me.team, "event": event}


def _ts(at: datetime) -> str:
    """Whole seconds: what follows in a ts may be a count instead of a fraction."""
    return f"{int(at.timestamp())}.000000"


def _before(cursor: str) -> str:
    return _ts(moment(cursor) - _OVERLAP)


def now_ts(clock: Clock) -> str:
    """Return the present moment as a ts."""
    return _ts(clock.now())
