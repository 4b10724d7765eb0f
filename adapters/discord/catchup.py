"""History: what was said in a channel while nobody listened, read in order before new events."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any

import structlog

from adapters.discord.fields import Fields
from gateway.model.errors import Disposition, PlatformError, StoreError
from gateway.policy.retry import Backoff

if TYPE_CHECKING:
    from collections.abc import Callable

    from adapters.discord.client import Client
    from adapters.discord.cursors import Cursors
    from adapters.discord.preview import Previews
    from adapters.discord.reading import Reader
    from adapters.discord.socket import Event
    from gateway.ports import Clock

log: structlog.stdlib.BoundLogger = structlog.get_logger()

BACKOFF = Backoff(first=1.0, factor=2.0, ceiling=60.0, jitter=0.3, attempts=sys.maxsize)
#: channels that are read at the same time
AT_ONCE = 4
FULL_PAGE = 100


class CatchUp:
    """Reads channels after their cursors. Live events of such a channel are held back.

    The history tells them again, in order; only what it does not tell (because Discord refuses
    it, or the message is gone already) is handed in at the end.
    """

    def __init__(
        self,
        client: Client,
        cursors: Cursors,
        reader: Reader,
        previews: Previews,
        clock: Clock,
        *,
        hand_in: Callable[[Event], Any],
    ) -> None:
        self._client = client
        self._cursors = cursors
        self._reader = reader
        self._previews = previews
        self._clock = clock
        self._hand_in = hand_in
        self._room = asyncio.Semaphore(AT_ONCE)
        self._held: dict[str, list[Event]] = {}
        #: channels to be read once more: another session began while they were read
        self._again: set[str] = set()

    def hold(self, channel: str, event: Event) -> bool:
        """Hold a new message back if its channel is being read; say whether that is so."""
        held = self._held.get(channel)
        if held is None or _number(event) is None:
            return False
        held.append(event)
        return True

    def claim(self, channel: str) -> bool:
        """Begin to hold a channel's events back; False when it is being read already.

        Whoever reads it then looks once more: what was said between the sessions may stand
        behind the page that is being fetched.
        """
        if channel in self._held:
            self._again.add(channel)
            return False
        self._held[channel] = []
        return True

    async def read(self, channel: str, after: str, guild: str | None) -> None:
        """Hand in what a claimed channel holds after a message, then let its events go."""
        attempt = 0
        roles = _Roles(self._client, guild)
        while channel in self._held:
            try:
                async with self._room:
                    after = await self._page(channel, after, roles)
                attempt = 0
            except (PlatformError, StoreError) as error:
                if error.disposition is Disposition.GIVE_UP and isinstance(error, PlatformError):
                    await self._give_up(channel, error)
                    return
                attempt += 1
                delay = BACKOFF.delay(attempt, retry_after=error.retry_after, roll=0.5)
                await self._clock.sleep(BACKOFF.ceiling if delay is None else delay)

    async def _page(self, channel: str, after: str, roles: _Roles) -> str:
        """Store one page and return its last id; release the channel behind the last page."""
        before = len(self._held[channel])
        self._again.discard(channel)
        page = await self._client.history(channel, after)
        if page:
            after = Fields.of(page[-1], "history").id()
            completed = [await roles.completed(each) for each in page]
            read = (self._reader.read("MESSAGE_CREATE", each) for each in completed)
            await self._cursors.accept(channel, [one for one in read if one is not None], after)
            await self._previews.sweep(page)
        held = self._held[channel]
        came_meanwhile = len(held) > before
        held[:] = [event for event in held if (_number(event) or 0) > int(after)]
        unread = channel in self._again or (came_meanwhile and held)
        if len(page) < FULL_PAGE and not unread:
            await self._release(channel)
        return after

    async def _give_up(self, channel: str, error: PlatformError) -> None:
        log.warning("discord.no_history", action="catch_up", place=channel, why=error.code)
        await self._release(channel)

    async def _release(self, channel: str) -> None:
        for event in self._held.pop(channel):
            await self._hand_in(event)


def _number(event: Event) -> int | None:
    """Return the id of a new message, None where it has none that orders it."""
    match event[1]:
        case {"id": str(identity)} if identity.isascii() and identity.isdecimal():
            return int(identity)
    return None


class _Roles:
    """Completes a message of the history as the gateway would have sent it.

    The history names neither guild nor member, and roles may be what admits a sender.
    """

    def __init__(self, client: Client, guild: str | None) -> None:
        self._client = client
        self._guild = guild
        self._members: dict[str, object] = {}

    async def completed(self, message: object) -> object:
        """Return the message with guild and member, without the latter if Discord refuses."""
        if self._guild is None or not isinstance(message, dict):
            return message
        completed = message | {"guild_id": self._guild}
        match message:
            case {"author": {"id": str(user)}} if "webhook_id" not in message:
                completed["member"] = await self._member(user)
        return completed

    async def _member(self, user: str) -> object:
        if user not in self._members:
            self._members[user] = None
            try:
                self._members[user] = await self._client.member(self._guild or "", user)
            except PlatformError as error:
                if error.disposition is not Disposition.GIVE_UP:
                    del self._members[user]
                    raise
        return self._members[user]
