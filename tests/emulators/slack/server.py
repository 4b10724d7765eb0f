"""The HTTP side of the Web API: tokens, faults, a record of all calls, and files."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aiohttp import web

from tests.emulators.loopback import abort
from tests.emulators.slack import chat, files, methods
from tests.emulators.slack.arguments import read_arguments
from tests.emulators.slack.errors import SlackError
from tests.emulators.slack.faults import AFTER_THE_WORK, BEFORE_THE_WORK, FaultKind, Faults
from tests.emulators.slack.methods import Call

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.emulators.slack.arguments import Arguments
    from tests.emulators.slack.events import Events
    from tests.emulators.slack.faults import Fault
    from tests.emulators.slack.world import World

Json = dict[str, Any]

METHODS = methods.METHODS | chat.METHODS | files.METHODS

#: what the record calls the fetching of a file
DOWNLOAD = "download"


@dataclass(slots=True)
class Recorded:
    """One call as it arrived; ``error`` is the code it was refused with, "" for none."""

    method: str
    args: Json
    token: str
    #: monotonic seconds
    at: float
    error: str = ""


class WebApi:
    """Answers ``/api/{method}``, uploads and downloads from a ``World``."""

    def __init__(self, world: World, events: Events, on_change: Callable[[], None]) -> None:
        self.faults = Faults()
        self.calls: list[Recorded] = []
        #: makes the address of a new socket; set by the emulator
        self.new_socket: Callable[[], str] = str
        self._world = world
        self._events = events
        self._on_change = on_change

    def routes(self) -> Sequence[web.RouteDef]:
        """Return the routes; GET and POST alike."""
        return [
            web.route("*", "/api/{method}", self._answer),
            web.post("/upload/{file}", self._upload),
            web.get("/files-pri/{file}/{name}", self._download),
        ]

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        method = request.match_info["method"]
        args, token = await read_arguments(request)
        record = Recorded(method, dict(args.values), token, time.monotonic())
        self.calls.append(record)
        self._on_change()
        channel = args.text("channel") or args.text("channel_id")
        if slow := self.faults.take({FaultKind.SLOW}, method, channel):
            await asyncio.sleep(slow.seconds)
        fault = self.faults.take(BEFORE_THE_WORK, method, channel)
        if fault is not None and fault.kind is not FaultKind.ERROR:
            return _instead(request, fault)
        response = self._respond(request, record, args, fault)
        self._on_change()
        if late := self.faults.take(AFTER_THE_WORK, method, channel):
            return _instead(request, late, response)
        return response

    def _respond(
        self, request: web.Request, record: Recorded, args: Arguments, fault: Fault | None
    ) -> web.Response:
        try:
            if fault is not None and fault.error is not None:
                raise fault.error
            result = self._work(request, record, args)
        except SlackError as error:
            record.error = error.code
            return web.json_response(error.body(), status=error.status, headers=error.headers)
        return web.json_response({"ok": True, **result})

    def _work(self, request: web.Request, record: Recorded, args: Arguments) -> Json:
        if record.method == "apps.connections.open":
            if record.token not in self._world.app_tokens:
                raise SlackError("invalid_auth")
            return {"url": self.new_socket()}
        bot = self._world.bot_of(record.token)
        if record.method not in METHODS:
            raise SlackError("unknown_method")
        address = f"{request.scheme}://{request.host}"
        return METHODS[record.method](Call(self._world, self._events, bot, args, address))

    async def _upload(self, request: web.Request) -> web.Response:
        facts, _ = self._world.files[request.match_info["file"]]
        content = await request.read()
        facts["size"] = len(content)
        self._world.files[facts["id"]] = (facts, content)
        return web.Response(text=f"OK - {len(content)}")

    async def _download(self, request: web.Request) -> web.Response:
        """Without the token a page to sign in comes, with status 200, as from Slack."""
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        args = {"file": request.match_info["file"]}
        self.calls.append(Recorded(DOWNLOAD, args, token, time.monotonic()))
        self._on_change()
        found = self._world.files.get(request.match_info["file"])
        if token not in self._world.bots or found is None:
            return web.Response(
                text="<!DOCTYPE html><title>Slack</title>", content_type="text/html"
            )
        return web.Response(body=found[1], content_type=found[0]["mimetype"])


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
