"""The HTTP side of the Bot API: routing, authorisation, faults, and a record of all calls."""

from __future__ import annotations

import asyncio
import inspect
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aiohttp import web

from tests.emulators.loopback import abort
from tests.emulators.telegram import account, media, methods
from tests.emulators.telegram.arguments import Arguments, read_arguments
from tests.emulators.telegram.errors import ApiError
from tests.emulators.telegram.faults import (
    AFTER_THE_WORK,
    BEFORE_THE_WORK,
    Fault,
    FaultKind,
    Faults,
    Flood,
)
from tests.emulators.telegram.methods import Call

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.emulators.telegram.world import Bot, World

METHODS = methods.METHODS | media.METHODS | account.METHODS

#: what the record and the faults call the fetching of a file
DOWNLOAD = "download"


@dataclass(slots=True)
class Recorded:
    """One call as it arrived; ``error`` is the code it was refused with, 0 for none."""

    method: str
    args: dict[str, Any]
    token: str
    #: monotonic seconds
    at: float
    error: int = 0


class BotApi:
    """Answers ``/bot{token}/{method}`` and ``/file/bot{token}/{path}`` from a ``World``."""

    def __init__(self, world: World, on_change: Callable[[], None]) -> None:
        self.faults = Faults()
        self.flood = Flood()
        self.calls: list[Recorded] = []
        self._world = world
        self._on_change = on_change

    def routes(self) -> Sequence[web.RouteDef]:
        """Return the routes; every verb is accepted, as by the real server."""
        return [
            web.route("*", "/bot{token}/{method}", self._answer),
            web.get("/file/bot{token}/{path:.+}", self._download),
        ]

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        method = request.match_info["method"]
        args = await read_arguments(request)
        chat = args.text("chat_id")
        record = Recorded(method, args.decoded(), request.match_info["token"], time.monotonic())
        self.calls.append(record)
        self._on_change()
        if slow := self.faults.take({FaultKind.SLOW}, method, chat):
            await asyncio.sleep(slow.seconds)
        fault = self.faults.take(BEFORE_THE_WORK, method, chat)
        if fault is not None and fault.kind != FaultKind.ERROR:
            return _instead(request, fault)
        response = await self._respond(record, args, fault)
        self._on_change()
        if late := self.faults.take(AFTER_THE_WORK, method, chat):
            return _instead(request, late, response)
        return response

    async def _respond(
        self, record: Recorded, args: Arguments, fault: Fault | None
    ) -> web.Response:
        try:
            if fault is not None and fault.error is not None:
                raise fault.error
            result = await self._work(record, args)
        except ApiError as error:
            record.error = error.code
            return web.json_response(error.body(), status=error.code)
        return web.json_response({"ok": True, "result": result})

    async def _work(self, record: Recorded, args: Arguments) -> Any:
        bot = self._authorised(record.token)
        name = record.method.lower()
        if name not in METHODS:
            raise ApiError(404, "Not Found: method not found")
        self.flood.spend(bot.id, name, args.text("chat_id"))
        result = METHODS[name](Call(self._world, bot, args))
        return await result if inspect.isawaitable(result) else result

    def _authorised(self, token: str) -> Bot:
        if ":" not in token:
            raise ApiError(401, "Unauthorized: invalid token specified")
        bot = self._world.bots.get(token)
        if bot is None or bot.revoked:
            raise ApiError(401, "Unauthorized")
        return bot

    async def _download(self, request: web.Request) -> web.Response:
        token, path = request.match_info["token"], request.match_info["path"]
        self.calls.append(Recorded(DOWNLOAD, {"path": path}, token, time.monotonic()))
        self._on_change()
        if slow := self.faults.take({FaultKind.SLOW}, DOWNLOAD, ""):
            await asyncio.sleep(slow.seconds)
        fault = self.faults.take(BEFORE_THE_WORK, DOWNLOAD, "")
        if fault is not None and fault.kind != FaultKind.ERROR:
            return _instead(request, fault)
        try:
            if fault is not None and fault.error is not None:
                raise fault.error
            self._authorised(token)
            for stored in self._world.files.values():
                if stored.path == path:
                    return web.Response(body=stored.content)
            raise ApiError(404, "Not Found")
        except ApiError as error:
            return web.json_response(error.body(), status=error.code)


def _instead(
    request: web.Request, fault: Fault, response: web.Response | None = None
) -> web.Response:
    match fault.kind:
        case FaultKind.MALFORMED:
            return web.Response(status=fault.status, text=fault.body, content_type="text/html")
        case FaultKind.TRUNCATED if response is not None and isinstance(response.body, bytes):
            half = response.body[: len(response.body) // 2]
            return web.Response(body=half, content_type="application/json")
        case _:
            return abort(request)
