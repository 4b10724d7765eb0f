"""The page as a part of the running gateway: it takes its port, serves, and says how it is.

A port that somebody else has keeps nothing from working but the page: it is said, and tried
again now and then.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING
from urllib.parse import quote

import structlog

from gateway.memory.embedded.listener import Listener, bind
from gateway.ops.health import PAGE
from gateway.policy.hosts import is_loopback
from gateway.store import facts
from gateway.web import site

if TYPE_CHECKING:
    import socket

    from gateway.web.doors import Role
    from gateway.web.parts import Parts

log = structlog.get_logger(__name__)

#: seconds between tries to get the port
AGAIN = 15.0
#: what listens everywhere is opened here
_ANYWHERE = {"0.0.0.0": "127.0.0.1", "::": "[::1]", "": "127.0.0.1"}  # noqa: S104 - compared


class PageServer:
    """Serves the page until cancelled."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self._bound: socket.socket | None = None
        #: why there is no page, "" while there is one
        self.problem = ""

    @property
    def address(self) -> str:
        """Where browsers find it."""
        web = self.parts.settings.web
        port = web.port if self._bound is None else self._bound.getsockname()[1]
        return address_of(web.host, port)

    def take_port(self) -> bool:
        """Take the port now; False, with ``problem``, where it cannot be had."""
        if self._bound is not None:
            return True
        web, config = self.parts.settings.web, self.parts.home.config
        try:
            self._bound = bind(web.host, web.port)
            # two that are only bound would both think that they have it
            self._bound.listen(128)
        except OSError as error:
            self._let_go()
            self.problem = (
                f"{web.host}:{web.port} cannot be had ({(error.strerror or 'unusable').lower()}): "
                f"another gateway or program has it; set web.port in {config} to a free one"
            )
            return False
        self.problem = ""
        return True

    def _let_go(self) -> None:
        if self._bound is not None:
            self._bound.close()
            self._bound = None

    async def link(self, role: Role, *, by: str) -> str:
        """Return a one-time link to the page."""
        return link_to(self.address, await self.parts.doors.link(role, by=by))

    async def run(self) -> None:
        """Serve until cancelled; wait for the port as long as somebody else has it."""
        while not self.take_port():
            await self._tell("no_port", self.problem)
            await self.parts.clock.sleep(AGAIN)
        assert self._bound is not None  # noqa: S101 - taken above
        listener = Listener(site.build(self.parts), self._bound, name="page")
        await listener.start()
        try:
            await self._tell("open", self.address)
            await asyncio.Event().wait()
        finally:
            await listener.stop()
            self._let_go()
            await self._tell("closed", "")

    async def _tell(self, state: str, detail: str) -> None:
        told = json.dumps({"state": state, "detail": detail}, ensure_ascii=False)
        parts, now = self.parts, self.parts.clock.now()
        before = await parts.store.read(lambda conn: facts.get(conn, PAGE))
        if told == before:
            return
        await parts.store.write(lambda tx: facts.put(tx, PAGE, told, now=now))
        if state == "no_port":
            log.warning("page.no_port", action="page", problem=detail)
        elif state == "open":
            log.info("page.open", action="page", address=detail)
        if state == "open" and not is_loopback(parts.settings.web.host):
            log.warning(
                "page.exposed",
                action="page",
                remedy="other machines reach the page: put a proxy with TLS in front of it; "
                "nobody can sign in from elsewhere without",
            )


def address_of(host: str, port: int) -> str:
    """Return the address that a browser opens."""
    name = _ANYWHERE.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{name}:{port}"


def link_to(address: str, key: str) -> str:
    """Return the address at which a one-time link is used."""
    return f"{address}/sign-in?key={quote(key)}"
