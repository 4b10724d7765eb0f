"""discord.py's REST client for one base address, which never waits for a rate limit."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import aiohttp
import discord
from discord.http import HTTPClient, Ratelimit, Route

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Iterable, Sequence
    from types import SimpleNamespace

#: A 429 is raised, not slept on: the mailbox keeps the wait, over a restart too.
_NEVER_SLEEP = 0.001


class Bucket(Ratelimit):
    """A rate limit as Discord tells it; an empty one refuses at once instead of sleeping.

    The library's own holds back the answer to the last request that fits until the limit is
    over, and with a short ``max_ratelimit_timeout`` refuses while there is room.
    """

    __slots__ = ()

    async def acquire(self) -> None:
        now = self._last_request = self._loop.time()
        if self.is_expired():
            self.reset()  # type: ignore[no-untyped-call]  # the library left it without types
        if self.remaining <= 0 and self.expires is not None:
            raise discord.RateLimited(self.expires - now)
        self.remaining -= 1
        self.outgoing += 1

    async def __aexit__(self, *_: object) -> None:
        self.outgoing -= 1


class Rest(HTTPClient):
    """Requests to ``api_base``. Raises the library's exceptions.

    discord.py knows the address as ``Route.BASE``, one for the whole process. Here it is
    replaced in each request, so that two accounts may have two addresses.
    """

    def __init__(self, api_base: str, loop: asyncio.AbstractEventLoop) -> None:
        trace = aiohttp.TraceConfig()
        trace.on_request_end.append(self._ended)
        super().__init__(loop, http_trace=trace)
        self.max_ratelimit_timeout = _NEVER_SLEEP
        self._api_base = api_base.rstrip("/")
        self._silent_until = 0.0

    async def request(
        self,
        route: Route,
        *,
        files: Sequence[discord.File] | None = None,
        form: Iterable[dict[str, Any]] | None = None,
        **kwargs: Any,
    ) -> Any:
        """Ask once. Raises ``RateLimited`` while all requests must pause."""
        wait = self._silent_until - self.loop.time()
        if wait > 0:
            raise discord.RateLimited(wait)
        route.url = self._api_base + route.url.removeprefix(Route.BASE)
        return await super().request(route, files=files, form=form, **kwargs)

    def get_ratelimit(self, key: str) -> Ratelimit:
        bucket = self._buckets.get(key)
        if bucket is None:
            bucket = self._buckets[key] = Bucket(None)
            self._try_clear_expired_ratelimits()
        return bucket

    async def _ended(
        self,
        _session: aiohttp.ClientSession,
        _context: SimpleNamespace,
        ended: aiohttp.TraceRequestEndParams,
    ) -> None:
        """Note a limit that concerns every request; the library's exception does not tell."""
        headers = ended.response.headers
        if ended.response.status != HTTPStatus.TOO_MANY_REQUESTS:
            return
        if headers.get("X-RateLimit-Scope") == "global" or "Via" not in headers:
            try:
                wait = float(headers.get("Retry-After", ""))
            except ValueError:
                wait = 1.0
            self._silent_until = self.loop.time() + wait
