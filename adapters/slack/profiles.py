"""What people show of themselves, fetched behind their back: no event ever waits for it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import structlog

from gateway.model.errors import PlatformError
from gateway.model.events import SenderKind

if TYPE_CHECKING:
    from adapters.slack.client import Client
    from adapters.slack.people import Profile
    from gateway.model.events import Sender
    from gateway.model.ids import UserId
    from gateway.ports import Clock

log: structlog.stdlib.BoundLogger = structlog.get_logger()

#: seconds after which a profile is fetched again, and a failed fetch is tried again
_FRESH = 3600.0
_MOST = 10_000


class Profiles:
    """Names and languages by user id. A person's first message comes without them."""

    def __init__(self, client: Client, clock: Clock) -> None:
        self.known: dict[str, Profile] = {}
        self._client = client
        self._clock = clock
        self._asked: dict[UserId, float] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def notice(self, sender: Sender) -> None:
        """Fetch a person's profile unless it is fresh. Returns at once."""
        if sender.kind is not SenderKind.PERSON or sender.id is None:
            return
        now = self._clock.monotonic()
        asked = self._asked.get(sender.id)
        if asked is not None and now - asked < _FRESH:
            return
        if len(self._asked) >= _MOST:
            self._asked.clear()
            self.known.clear()
        self._asked[sender.id] = now
        task = asyncio.create_task(self._fetch(sender.id))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _fetch(self, user: UserId) -> None:
        try:
            self.known[user] = await self._client.profile(user)
        except PlatformError as error:
            log.debug("slack.no_profile", action="profile", code=error.code)

    async def aclose(self) -> None:
        """Stop fetching."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
