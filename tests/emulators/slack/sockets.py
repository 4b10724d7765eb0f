"""Socket Mode: tickets that open one socket each, envelopes, acknowledgements, farewells."""

from __future__ import annotations

import asyncio
import itertools
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aiohttp import WSMsgType, web

if TYPE_CHECKING:
    from collections.abc import Callable

Json = dict[str, Any]

_MOST = 10


@dataclass(frozen=True, slots=True)
class Socket:
    """One live connection of the app."""

    ws: web.WebSocketResponse
    request: web.Request


class Sockets:
    """Hands envelopes to the live sockets in turn."""

    def __init__(self, on_change: Callable[[], None]) -> None:
        self.live: list[Socket] = []
        #: sockets opened so far
        self.opened = 0
        #: the next tickets that are dead when they are used
        self.dead_tickets = 0
        self._on_change = on_change
        self._tickets: set[str] = set()
        self._numbers = itertools.count(1)
        self._acks: dict[str, asyncio.Event] = {}
        self._turn = itertools.count()
        self._came = asyncio.Event()

    def ticket(self) -> str:
        """Return a new ticket; it opens one socket, once."""
        ticket = f"ticket{next(self._numbers)}"
        if self.dead_tickets:
            self.dead_tickets -= 1
        else:
            self._tickets.add(ticket)
        return ticket

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Keep one socket until it ends."""
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets or len(self.live) >= _MOST:
            return web.Response(status=404)
        self._tickets.remove(ticket)
        ws = web.WebSocketResponse()
        await ws.prepare(request)
        await ws.send_json(
            {
                "type": "hello",
                "num_connections": len(self.live) + 1,
                "debug_info": {"host": "applink-1", "approximate_connection_time": 18060},
                "connection_info": {"app_id": "A0GATE0001"},
            }
        )
        socket = Socket(ws, request)
        self._joined(socket)
        try:
            async for message in ws:
                if message.type is WSMsgType.TEXT:
                    self._acknowledged(json.loads(message.data))
        finally:
            self.live.remove(socket)
            self._on_change()
        return ws

    def _joined(self, socket: Socket) -> None:
        self.live.append(socket)
        self.opened += 1
        self._came.set()
        self._came = asyncio.Event()
        self._on_change()

    def _acknowledged(self, message: Json) -> None:
        waiting = self._acks.get(message.get("envelope_id", ""))
        if waiting is not None:
            waiting.set()

    async def send(self, envelope_id: str, envelope: Json, ack_seconds: float) -> bool:
        """Send one envelope; say whether it was acknowledged in time."""
        acked = self._acks[envelope_id] = asyncio.Event()
        try:
            async with asyncio.timeout(ack_seconds):
                while not self.live:
                    await self._came.wait()
                socket = self.live[next(self._turn) % len(self.live)]
                await socket.ws.send_json(envelope)
                await acked.wait()
        except (TimeoutError, ConnectionError):
            return False
        finally:
            del self._acks[envelope_id]
        return True

    async def disconnect(self, reason: str = "refresh_requested") -> None:
        """Tell every socket that it is about to be closed; it still works until it is."""
        for socket in list(self.live):
            frame = {"type": "disconnect", "reason": reason, "debug_info": {"host": "applink-1"}}
            await socket.ws.send_json(frame)

    async def close(self, code: int = 1001) -> None:
        """Close every socket properly."""
        for socket in list(self.live):
            await socket.ws.close(code=code)

    def abort(self) -> None:
        """Cut every socket as a crash would."""
        for socket in list(self.live):
            if socket.request.transport is not None:
                socket.request.transport.abort()

    async def send_raw(self, frame: str) -> None:
        """Send any text to every socket."""
        for socket in list(self.live):
            await socket.ws.send_str(frame)
