"""The emulator as tests hold it."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

from tests.emulators.control import control_route
from tests.emulators.loopback import LoopbackServer
from tests.emulators.telegram import control
from tests.emulators.telegram.people import USER, People
from tests.emulators.telegram.server import BotApi, Recorded
from tests.emulators.telegram.trouble import Trouble
from tests.emulators.telegram.world import World

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aiohttp import web

Json = dict[str, Any]


class TelegramEmulator(People, Trouble, LoopbackServer):
    """The Bot API on loopback; ``base_url`` and ``base_file_url`` go into the client.

    ``async with`` it. ``People`` says who writes what, ``Trouble`` plans faults; state
    survives ``stop`` and ``start``.
    """

    def __init__(self, port: int = 0) -> None:
        world = World()
        LoopbackServer.__init__(self, port)
        self._api = BotApi(world, self.tell_waiters)
        People.__init__(self, world, self.tell_waiters)
        Trouble.__init__(self, self._api.faults, self._api.flood)

    def routes(self) -> Sequence[web.RouteDef]:
        return [control_route(control.ACTIONS, partial(control.run, self)), *self._api.routes()]

    @property
    def base_url(self) -> str:
        """Address that a client puts token and method behind."""
        return f"{self.address}/bot"

    @property
    def base_file_url(self) -> str:
        """Address that a client puts token and file path behind."""
        return f"{self.address}/file/bot"

    @property
    def calls(self) -> list[Recorded]:
        """Every call so far, refused and unanswered ones too."""
        return self._api.calls

    def calls_of(self, method: str) -> list[Recorded]:
        """Return the calls of one method."""
        return [call for call in self.calls if call.method.lower() == method.lower()]

    async def start(self) -> None:
        await LoopbackServer.start(self)
        self._world.webhooks.resume()

    async def stop(self) -> None:
        await self._world.webhooks.pause()
        await LoopbackServer.stop(self)

    async def down(self, seconds: float) -> None:
        """Be unreachable for a while, then serve on the same port again."""
        await self.stop()
        await asyncio.sleep(seconds)
        await self.start()

    async def wait_for(
        self,
        wanted: int | Callable[[list[Json]], bool],
        *,
        chat: int = USER,
        bot: str | None = None,
        timeout: float = 5.0,
    ) -> list[Json]:
        """Wait for a number of answers, or until ``wanted(answers)``; return the answers.

        Raises ``TimeoutError`` with the number that came.
        """
        enough = wanted if callable(wanted) else lambda answers: len(answers) >= wanted
        if not await self.until(lambda: enough(self.answers(chat, bot=bot)), timeout):
            came = len(self.answers(chat, bot=bot))
            raise TimeoutError(f"{came} answers in chat {chat} after {timeout:g} s")
        return self.answers(chat, bot=bot)

    async def wait_for_calls(
        self, method: str, count: int = 1, *, timeout: float = 5.0
    ) -> list[Recorded]:
        """Wait until ``method`` was called so often (a poll: until it waits); return the calls."""
        if not await self.until(lambda: len(self.calls_of(method)) >= count, timeout):
            came = len(self.calls_of(method))
            raise TimeoutError(f"{came} calls of {method} after {timeout:g} s")
        return self.calls_of(method)
