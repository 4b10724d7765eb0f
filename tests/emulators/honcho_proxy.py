"""A transparent proxy before a memory service, on 127.0.0.1, where things go wrong as planned.

Faults are planned for paths (a regular expression that is searched for) and used up in order,
one per request; what is not planned passes through unchanged.
"""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import aiohttp
from aiohttp import web
from yarl import URL

from tests.emulators.loopback import LoopbackServer, abort

if TYPE_CHECKING:
    from collections.abc import Sequence

#: headers that belong to one connection, not to what is said over it
_HOP = {"connection", "content-length", "host", "keep-alive", "transfer-encoding"}
_PORTAL = "<html><head><title>Sign in</title></head><body>captive portal</body></html>"
#: for ``times``: until ``clear``
ALWAYS = -1

#: paths that are planned for often
MESSAGES = r"/messages$"
CONTEXT = r"/sessions/[^/]+/context$"
CHAT = r"/chat$"


class Kind(StrEnum):
    """How a request goes wrong."""

    #: the service never sees it; answered with ``status``, ``body``
    INSTEAD = "instead"
    #: the service has done it; answered with ``status``, ``body``
    AFTER = "after"
    #: the service has done it; no answer ever comes
    HANG = "hang"
    #: the service has done it; the connection breaks
    RESET = "reset"
    #: the service gets it late
    SLOW = "slow"


@dataclass(slots=True)
class Fault:
    """One planned fault, for the next ``times`` requests of a path and method ("": any)."""

    kind: Kind
    path: str
    method: str = ""
    times: int = 1
    status: int = 200
    body: str = ""
    content_type: str = "application/json"
    retry_after: float | None = None
    seconds: float = 0.0

    def concerns(self, method: str, path: str) -> bool:
        """Return whether this fault is for such a request."""
        fits = self.method in ("", method) and re.search(self.path, path) is not None
        return self.times != 0 and fits


@dataclass(frozen=True, slots=True)
class Seen:
    """One request as it came, and what the service answered; None: it was never asked."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    body: bytes
    status: int | None = None

    @property
    def json(self) -> Any:
        """The body, read; None where there is none."""
        return json.loads(self.body) if self.body else None


class HonchoProxy(LoopbackServer):
    """``async with HonchoProxy(url) as proxy``; ``proxy.address`` is the clients' base URL.

    ``stop`` and ``start`` take it down and up on the same port. A request whose client has gone
    is finished, as a real server does.
    """

    def __init__(self, upstream: str, port: int = 0) -> None:
        super().__init__(port)
        self._upstream = upstream.rstrip("/")
        self._faults: list[Fault] = []
        #: every request, in the order in which the service had done them
        self.seen: list[Seen] = []

    def routes(self) -> Sequence[web.RouteDef]:
        return [web.route("*", "/{path:.*}", self._handle)]

    # --- what goes wrong ---

    def plan(self, fault: Fault) -> None:
        """Add a fault."""
        self._faults.append(fault)

    def clear(self) -> None:
        """Forget what is planned."""
        self._faults.clear()

    def fail_after(
        self, path: str = MESSAGES, status: int = 502, *, method: str = "", times: int = 1
    ) -> None:
        """Let the service do it, then answer that it failed: the client cannot know."""
        body = json.dumps({"detail": "An unexpected error occurred"})
        self.plan(Fault(Kind.AFTER, path, method, times, status, body))

    def hang_after(self, path: str = MESSAGES, *, method: str = "", times: int = 1) -> None:
        """Let the service do it, then never answer."""
        self.plan(Fault(Kind.HANG, path, method, times))

    def reset_after(self, path: str = MESSAGES, *, method: str = "", times: int = 1) -> None:
        """Let the service do it, then break the connection."""
        self.plan(Fault(Kind.RESET, path, method, times))

    def refuse(
        self, path: str, status: int, *, detail: str = "", method: str = "", times: int = 1
    ) -> None:
        """Answer in the service's place with an error, 401 or 503 for instance."""
        body = json.dumps({"detail": detail or f"HTTP {status}"})
        self.plan(Fault(Kind.INSTEAD, path, method, times, status, body))

    def limit(self, path: str = "", *, retry_after: float | None = None, times: int = 1) -> None:
        """Answer 429 in the service's place."""
        body = json.dumps({"detail": "Rate limit exceeded"})
        self.plan(Fault(Kind.INSTEAD, path, "", times, 429, body, retry_after=retry_after))

    def empty_stream(self, path: str = CHAT, *, times: int = 1) -> None:
        """Answer with an event stream that ends at once: what Honcho does when its model fails."""
        self.plan(Fault(Kind.INSTEAD, path, "", times, content_type="text/event-stream"))

    def html(self, path: str = "", *, times: int = 1) -> None:
        """Answer 200 with a page, as a captive portal or a wrong address does."""
        self.plan(Fault(Kind.INSTEAD, path, "", times, body=_PORTAL, content_type="text/html"))

    def slow(self, path: str, seconds: float, *, times: int = 1) -> None:
        """Pass it on ``seconds`` late."""
        self.plan(Fault(Kind.SLOW, path, "", times, seconds=seconds))

    # --- what became of it ---

    def matching(self, path: str, method: str = "") -> list[Seen]:
        """Return the requests of a path and method so far."""
        return [
            each
            for each in self.seen
            if method in ("", each.method) and re.search(path, each.path) is not None
        ]

    async def wait_for(self, path: str, count: int = 1, *, timeout: float = 5.0) -> None:
        """Wait until so many requests of a path were done with; raises ``TimeoutError``."""
        if not await self.until(lambda: len(self.matching(path)) >= count, timeout):
            raise TimeoutError(f"{len(self.matching(path))} requests after {timeout:g} s")

    # --- HTTP ---

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        seen = Seen(
            request.method,
            request.rel_url.raw_path,
            request.rel_url.raw_query_string,
            dict(request.headers),
            await request.read(),
        )
        fault = self._take(seen)
        if fault is None:
            return await self._pass_on(request, seen)
        if fault.kind is Kind.SLOW:
            await asyncio.sleep(fault.seconds)
            return await self._pass_on(request, seen)
        if fault.kind is Kind.INSTEAD:
            self._note(seen)
            return _planned(fault)
        await self._do(seen)
        return await _lost(request, fault)

    def _take(self, seen: Seen) -> Fault | None:
        for fault in self._faults:
            if fault.concerns(seen.method, seen.path):
                fault.times -= fault.times > 0
                return fault
        return None

    def _note(self, seen: Seen) -> None:
        self.seen.append(seen)
        self.tell_waiters()

    async def _do(self, seen: Seen) -> None:
        """Have the service do it and throw the answer away."""
        async with self._session() as session, self._ask(session, seen) as answer:
            await answer.read()
            self._note(replace(seen, status=answer.status))

    async def _pass_on(self, request: web.Request, seen: Seen) -> web.StreamResponse:
        async with self._session() as session:
            try:
                asked = await self._ask(session, seen)
            except aiohttp.ClientConnectionError:
                self._note(seen)
                return abort(request)
            async with asked as answer:
                self._note(replace(seen, status=answer.status))
                response = web.StreamResponse(
                    status=answer.status, headers=_end_to_end(answer.headers)
                )
                await response.prepare(request)
                async for chunk in answer.content.iter_any():
                    await response.write(chunk)
                await response.write_eof()
                return response

    def _session(self) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            auto_decompress=False, timeout=aiohttp.ClientTimeout(total=None)
        )

    def _ask(self, session: aiohttp.ClientSession, seen: Seen) -> Any:
        query = f"?{seen.query}" if seen.query else ""
        return session.request(
            seen.method,
            URL(f"{self._upstream}{seen.path}{query}", encoded=True),
            data=seen.body or None,
            headers=_end_to_end(seen.headers),
        )


def _end_to_end(headers: Any) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() not in _HOP}


def _planned(fault: Fault) -> web.Response:
    headers = {} if fault.retry_after is None else {"Retry-After": f"{fault.retry_after:g}"}
    return web.Response(
        status=fault.status, text=fault.body, headers=headers, content_type=fault.content_type
    )


async def _lost(request: web.Request, fault: Fault) -> web.StreamResponse:
    if fault.kind is Kind.RESET:
        return abort(request)
    if fault.kind is Kind.HANG:
        await asyncio.Event().wait()
    return _planned(fault)
