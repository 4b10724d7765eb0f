"""The emulator as tests hold it."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

from aiohttp import web

from tests.emulators.control import control_route
from tests.emulators.discord import control
from tests.emulators.discord.faults import Faults
from tests.emulators.discord.gateway import Gateway
from tests.emulators.discord.people import People
from tests.emulators.discord.rest import Rest
from tests.emulators.discord.trouble import Trouble
from tests.emulators.discord.world import USER, World
from tests.emulators.loopback import LoopbackServer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.emulators.discord.rest import Recorded

Json = dict[str, Any]


class DiscordEmulator(People, Trouble, LoopbackServer):
    """Gateway and REST API on loopback; ``api_base`` and ``gateway_url`` go into the client.

    ``async with`` it. ``People`` says who writes what, ``Trouble`` plans faults; state
    survives ``stop`` and ``start``.
    """

    def __init__(self, port: int = 0) -> None:
        LoopbackServer.__init__(self, port)
        world = World(self.address)
        faults = Faults()
        self.gateway = Gateway(world, faults, self.tell_waiters)
        self._rest = Rest(world, self.gateway, faults, self.tell_waiters)
        People.__init__(self, world, self.gateway, self.tell_waiters)
        Trouble.__init__(self, faults, self._rest.buckets, self.gateway)

    def routes(self) -> Sequence[web.RouteDef]:
        return [
            control_route(control.ACTIONS, partial(control.run, self)),
            *self._rest.routes(),
            web.get("/", self.gateway.connect),
        ]

    @property
    def api_base(self) -> str:
        """Address in front of every REST path."""
        return f"{self.address}/api/v10"

    @property
    def gateway_url(self) -> str:
        """Address of the gateway."""
        return f"{self.address.replace('http', 'ws', 1)}/"

    @property
    def calls(self) -> list[Recorded]:
        """Every request so far, refused and unanswered ones too."""
        return self._rest.calls

    def calls_of(self, route: str) -> list[Recorded]:
        """Return the requests of one route."""
        return [call for call in self.calls if call.route == route]

    async def down(self, seconds: float) -> None:
        """Be unreachable for a while, then serve on the same port again."""
        await self.stop()
        await asyncio.sleep(seconds)
        await self.start()

    async def connected(self, count: int = 1, timeout: float = 5.0) -> None:
        """Wait until so many sessions have a socket."""
        if not await self.until(lambda: len(self.gateway.live) >= count, timeout):
            raise TimeoutError(f"{len(self.gateway.live)} live sessions after {timeout:g} s")

    async def wait_for(
        self,
        wanted: int | Callable[[list[Json]], bool],
        *,
        channel: str | None = None,
        user: str = USER,
        timeout: float = 5.0,
    ) -> list[Json]:
        """Wait for a number of answers, or until ``wanted(answers)``; return the answers.

        Raises ``TimeoutError`` with the number that came.
        """
        enough = wanted if callable(wanted) else lambda answers: len(answers) >= wanted
        if not await self.until(lambda: enough(self.answers(channel, user=user)), timeout):
            came = len(self.answers(channel, user=user))
            raise TimeoutError(f"{came} answers after {timeout:g} s")
        return self.answers(channel, user=user)

    async def wait_for_calls(
        self, route: str, count: int = 1, *, timeout: float = 5.0
    ) -> list[Recorded]:
        """Wait until ``route`` was asked so often; return the requests."""
        if not await self.until(lambda: len(self.calls_of(route)) >= count, timeout):
            came = len(self.calls_of(route))
            raise TimeoutError(f"{came} requests of {route} after {timeout:g} s")
        return self.calls_of(route)
