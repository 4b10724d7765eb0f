"""The HTTP side: routing, authorisation, rate limits, faults, and a record of all requests."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aiohttp import web

from tests.emulators.discord import account, errors, messages
from tests.emulators.discord.errors import ApiError
from tests.emulators.discord.faults import BEFORE_THE_WORK, Buckets, Fault, FaultKind
from tests.emulators.discord.messages import Request
from tests.emulators.loopback import abort

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.emulators.discord.faults import Faults
    from tests.emulators.discord.gateway import Gateway
    from tests.emulators.discord.world import Bot, World

_C = "/channels/{channel}"
_M = f"{_C}/messages/{{message}}"

#: name → verb, path, work
ROUTES: dict[str, tuple[str, str, Callable[[Request], Any]]] = {
    "me": ("GET", "/users/@me", account.me),
    "application": ("GET", "/oauth2/applications/@me", account.application),
    "gateway": ("GET", "/gateway/bot", account.gateway),
    "commands": ("PUT", "/applications/{application}/commands", account.commands),
    "open_dm": ("POST", "/users/@me/channels", account.open_dm),
    "channel": ("GET", _C, account.channel),
    "member": ("GET", "/guilds/{guild}/members/{user}", account.member),
    "history": ("GET", f"{_C}/messages", messages.history),
    "send": ("POST", f"{_C}/messages", messages.create),
    "message": ("GET", _M, messages.single),
    "edit": ("PATCH", _M, messages.edit),
    "delete": ("DELETE", _M, messages.delete),
    "typing": ("POST", f"{_C}/typing", account.typing),
    "react": ("PUT", f"{_M}/reactions/{{emoji}}/@me", account.react),
    "thread": ("POST", f"{_M}/threads", account.open_thread),
    "respond": ("POST", "/interactions/{interaction}/{token}/callback", account.respond),
    "unrespond": (
        "DELETE",
        "/webhooks/{application}/{token}/messages/@original",
        account.unrespond,
    ),
}

#: what the record calls the fetching of a file
DOWNLOAD = "download"

#: authorised by a token in the path
_OPEN = frozenset({"respond", "unrespond"})


@dataclass(slots=True)
class Recorded:
    """One request as it arrived; ``status`` is what it was answered with, 0 for nothing."""

    route: str
    path: dict[str, str]
    query: dict[str, str]
    body: Any
    token: str
    #: monotonic seconds
    at: float
    status: int = 0


class Rest:
    """Answers ``/api/v10/…`` and ``/attachments/…`` from a ``World``."""

    def __init__(
        self, world: World, gateway: Gateway, faults: Faults, on_change: Callable[[], None]
    ) -> None:
        self.buckets = Buckets()
        self.calls: list[Recorded] = []
        self._faults = faults
        self._world = world
        self._gateway = gateway
        self._on_change = on_change

    def routes(self) -> Sequence[web.RouteDef]:
        """Return the routes."""
        api = [
            web.route(verb, f"/api/v10{path}", self._handler(name, work))
            for name, (verb, path, work) in ROUTES.items()
        ]
        return [*api, web.get("/attachments/{channel}/{file}/{name}", self._download)]

    def _handler(self, name: str, work: Callable[[Request], Any]) -> Any:
        async def handle(request: web.Request) -> web.StreamResponse:
            return await self._answer(name, work, request)

        return handle

    async def _answer(
        self, name: str, work: Callable[[Request], Any], request: web.Request
    ) -> web.StreamResponse:
        body, files = await _read(request)
        path = dict(request.match_info)
        token = request.headers.get("Authorization", "").removeprefix("Bot ")
        record = Recorded(name, path, dict(request.query), body, token, time.monotonic())
        self.calls.append(record)
        self._on_change()
        channel = path.get("channel", "")
        if slow := self._faults.take({FaultKind.SLOW}, name, channel):
            await asyncio.sleep(slow.seconds)
        fault = self._faults.take(BEFORE_THE_WORK, name, channel)
        if fault is not None and fault.kind is not FaultKind.ERROR:
            return _instead(request, fault)
        response = self._respond(record, work, files, fault)
        self._on_change()
        if self._faults.take({FaultKind.LOSE}, name, channel):
            return abort(request)
        return response

    def _respond(
        self,
        record: Recorded,
        work: Callable[[Request], Any],
        files: tuple[tuple[str, bytes], ...],
        fault: Fault | None,
    ) -> web.Response:
        channel = record.path.get("channel", "")
        via = {"Via": "1.1 google"} if fault is None or fault.via else {}
        try:
            if fault is not None and fault.error is not None:
                raise fault.error
            bot = self._authorised(record)
            self.buckets.spend(record.route, channel)
            result = work(
                Request(
                    self._world,
                    self._gateway,
                    bot,
                    record.path,
                    record.query,
                    record.body,
                    files,
                )
            )
        except ApiError as error:
            record.status = error.status
            return _json(error.status, error.body(), via | error.headers())
        record.status = 204 if result is None else 200
        headers = via | self.buckets.headers(record.route, channel)
        if result is None:
            return web.Response(status=204, headers=headers)
        return _json(200, result, headers)

    def _authorised(self, record: Recorded) -> Bot:
        if record.route in _OPEN:
            return next(iter(self._world.bots.values()))
        bot = self._world.bots.get(record.token)
        if bot is None or bot.revoked:
            raise ApiError(*errors.UNAUTHORIZED)
        return bot

    async def _download(self, request: web.Request) -> web.Response:
        identity = request.match_info["file"]
        path, query = dict(request.match_info), dict(request.query)
        token = request.headers.get("Authorization", "")
        self.calls.append(Recorded(DOWNLOAD, path, query, None, token, time.monotonic()))
        self._on_change()
        signed = query.get("hm") == messages.signature(identity, self._world.signing_key)
        if not signed or identity not in self._world.files:
            return web.Response(status=404, text="This content is no longer available.")
        return web.Response(body=self._world.files[identity][1])


async def _read(request: web.Request) -> tuple[Any, tuple[tuple[str, bytes], ...]]:
    """Return the JSON body and the uploaded files of a request."""
    if request.content_type != "multipart/form-data":
        raw = await request.read()
        return (json.loads(raw) if raw else {}), ()
    form = await request.post()
    files = []
    for value in form.values():
        if isinstance(value, web.FileField):
            files.append((value.filename, value.file.read()))
            value.file.close()
    return json.loads(str(form["payload_json"])), tuple(files)


def _json(status: int, body: Any, headers: dict[str, str]) -> web.Response:
    """Discord's clients want exactly this content type, without a charset."""
    exact = {**headers, "Content-Type": "application/json"}
    return web.Response(status=status, body=json.dumps(body).encode(), headers=exact)


def _instead(request: web.Request, fault: Fault) -> web.Response:
    if fault.kind is FaultKind.PAGE:
        page = "<html><head><title>502 Bad Gateway</title></head></html>"
        return web.Response(status=fault.status, text=page, content_type="text/html")
    return abort(request)
