"""The emulator as tests hold it."""

from __future__ import annotations

import asyncio
import itertools
from functools import partial
from typing import TYPE_CHECKING, Any

from aiohttp import web

from tests.emulators.control import control_route
from tests.emulators.loopback import LoopbackServer
from tests.emulators.slack import control
from tests.emulators.slack.delivery import Delivery
from tests.emulators.slack.events import Events
from tests.emulators.slack.people import People
from tests.emulators.slack.server import Recorded, WebApi
from tests.emulators.slack.sockets import Sockets
from tests.emulators.slack.trouble import Trouble
from tests.emulators.slack.world import APP, CHANNEL, TEAM, USER, World

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Json = dict[str, Any]


class SlackEmulator(People, Trouble, LoopbackServer):
    """Slack on loopback; ``base_url`` goes into the client.

    ``async with`` it. ``People`` says who writes what, ``Trouble`` plans faults, ``sockets``
    are the app's connections; state survives ``stop`` and ``start``.
    """

    def __init__(self, port: int = 0) -> None:
        LoopbackServer.__init__(self, port)
        world = World()
        self.sockets = Sockets(self.tell_waiters)
        self.delivery = Delivery(self.sockets, self.tell_waiters)
        events = Events(world, self.delivery.deliver)
        self._api = WebApi(world, events, self.tell_waiters)
        self._api.new_socket = self._new_socket
        self._commands = itertools.count(1)
        People.__init__(self, world, events, self.tell_waiters)
        Trouble.__init__(self, self._api.faults)

    def routes(self) -> Sequence[web.RouteDef]:
        socket = web.get("/socket", self.sockets.serve)
        return [
            control_route(control.ACTIONS, partial(control.run, self)),
            socket,
            *self._api.routes(),
        ]

    @property
    def base_url(self) -> str:
        """Address that a client puts a method behind."""
        return f"{self.address}/api/"

    @property
    def events_url(self) -> str | None:
        """Where events are posted; None: they go over the sockets."""
        return self.delivery.events_url

    @events_url.setter
    def events_url(self, url: str | None) -> None:
        self.delivery.events_url = url

    @property
    def calls(self) -> list[Recorded]:
        """Every call so far, refused and unanswered ones too."""
        return self._api.calls

    def calls_of(self, method: str) -> list[Recorded]:
        """Return the calls of one method."""
        return [call for call in self.calls if call.method == method]

    def command(
        self, command: str, text: str = "", *, channel: str = CHANNEL, user: str = USER
    ) -> None:
        """Type one of the app's slash commands."""
        payload = {
            "token": "verification",
            "team_id": TEAM,
            "channel_id": channel,
            "channel_name": "directmessage" if channel.startswith("D") else "room",
            "user_id": user,
            "user_name": user.lower(),
            "command": command,
            "text": text,
            "api_app_id": APP,
            "is_enterprise_install": "false",
            "trigger_id": f"{next(self._commands)}.2.abc",
        }
        self._world.channel(channel)
        self.delivery.deliver(payload, "slash_commands")

    def click(self, label: str, *, channel: str = f"D{USER[1:]}", user: str = USER) -> str:
        """Press the newest button of that label and return the press's trigger id."""
        message, button = _button(self.messages(channel), label)
        trigger = f"{next(self._commands)}.2.abc"
        where = {"message_ts": message["ts"], "channel_id": channel, "is_ephemeral": False}
        thread = {"thread_ts": message["thread_ts"]} if "thread_ts" in message else {}
        payload = {
            "type": "block_actions",
            "user": {"id": user, "username": user.lower(), "team_id": TEAM},
            "api_app_id": APP,
            "token": "verification",
            "container": {"type": "message", **where, **thread},
            "trigger_id": trigger,
            "team": {"id": TEAM, "domain": "emulated"},
            "enterprise": None,
            "is_enterprise_install": False,
            "channel": {"id": channel, "name": "room"},
            "message": message,
            "response_url": "https://hooks.slack.com/actions/T0/1/secret",
            "actions": [{**button, "block_id": "b", "action_ts": self._world.next_ts()}],
        }
        self.delivery.deliver(payload, "interactive")
        return trigger

    async def down(self, seconds: float) -> None:
        """Be unreachable for a while, then serve on the same port again."""
        await self.stop()
        await asyncio.sleep(seconds)
        await self.start()

    async def aclose(self) -> None:
        await self.delivery.aclose()
        await super().aclose()

    async def wait_for(
        self,
        wanted: int | Callable[[list[Json]], bool],
        *,
        channel: str = f"D{USER[1:]}",
        timeout: float = 10.0,
    ) -> list[Json]:
        """Wait for a number of answers, or until ``wanted(answers)``; return the answers.

        Raises ``TimeoutError`` with the number that came.
        """
        enough = wanted if callable(wanted) else lambda answers: len(answers) >= wanted
        if not await self.until(lambda: enough(self.answers(channel)), timeout):
            came = len(self.answers(channel))
            raise TimeoutError(f"{came} answers in {channel} after {timeout:g} s")
        return self.answers(channel)

    async def wait_for_sockets(self, count: int = 1, *, timeout: float = 10.0) -> None:
        """Wait until so many sockets are live."""
        if not await self.until(lambda: len(self.sockets.live) >= count, timeout):
            raise TimeoutError(f"{len(self.sockets.live)} sockets after {timeout:g} s")

    async def wait_until_acked(self, *, timeout: float = 10.0) -> None:
        """Wait until every payload is acknowledged or given up."""
        if not await self.until(lambda: not self.delivery.open, timeout):
            raise TimeoutError(f"{self.delivery.open} payloads open after {timeout:g} s")

    def _new_socket(self) -> str:
        address = self.address.replace("http", "ws", 1)
        return f"{address}/socket?ticket={self.sockets.ticket()}"


def _button(messages: list[Json], label: str) -> tuple[Json, Json]:
    """Return the newest message with a button of that label, and the button."""
    for message in reversed(messages):
        for block in message.get("blocks", ()):
            for button in block.get("elements", ()):
                if button["text"]["text"] == label:
                    return message, button
    raise AssertionError(f"no button {label}")
