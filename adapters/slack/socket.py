"""Socket Mode: envelopes are acknowledged when they are stored, each connection has a new ticket.

The library's own client asks for an address once and, when that one fails, tries the same dead
address for ever; with a wrong token it never comes back. So the connection is kept here.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import aiohttp
import structlog

from adapters.slack.errors import translated
from gateway.model.errors import Disposition, PlatformError

if TYPE_CHECKING:
    from collections.abc import Callable

    from adapters.slack.client import Client
    from adapters.slack.dispatch import Dispatcher

log: structlog.stdlib.BoundLogger = structlog.get_logger()

#: seconds between our pings; a server that answers none is left
HEARTBEAT = 10.0
#: seconds that Slack may take to greet
_GREETING = 10.0
_FAREWELL = aiohttp.ClientWSTimeout(ws_close=2.0)

_SWITCHED_OFF = PlatformError(
    "Socket Mode is switched off: turn it on in the app's settings",
    code="link_disabled",
    disposition=Disposition.RETRY,
)


class SocketTransport:
    """Receives over one socket at a time, over two while Slack replaces one."""

    def __init__(self, app: Client, dispatcher: Dispatcher) -> None:
        self._app = app
        self._dispatcher = dispatcher
        self._handling: set[asyncio.Task[None]] = set()

    async def serve(self, connected: Callable[[], None]) -> None:
        """Receive until Slack ends the connection without a replacement."""
        async with aiohttp.ClientSession() as session:
            ws = await self._open(session)
            try:
                connected()
                while (following := await self._receive(session, ws)) is not None:
                    ws = following
            finally:
                for task in self._handling:
                    task.cancel()
                await asyncio.gather(*self._handling, return_exceptions=True)
                await ws.close()

    async def _open(self, session: aiohttp.ClientSession) -> aiohttp.ClientWebSocketResponse:
        """Return a new socket that Slack has greeted on."""
        address = await self._app.open_socket()
        with translated():
            async with asyncio.timeout(_GREETING):
                ws = await session.ws_connect(
                    address, heartbeat=HEARTBEAT, max_msg_size=0, timeout=_FAREWELL
                )
                try:
                    hello = _frame(await ws.receive_str())
                except BaseException:
                    await ws.close()
                    raise
        if hello.get("type") != "hello":
            await ws.close()
            raise _not_greeted(hello)
        return ws

    async def _receive(
        self, session: aiohttp.ClientSession, ws: aiohttp.ClientWebSocketResponse
    ) -> aiohttp.ClientWebSocketResponse | None:
        """Receive until the socket ends; return its replacement, which is open by then."""
        async for message in ws:
            if message.type is not aiohttp.WSMsgType.TEXT:
                continue
            frame = _frame(message.data)
            if frame.get("type") == "disconnect":
                if frame.get("reason") == "link_disabled":
                    raise _SWITCHED_OFF
                return await self._replace(session, ws)
            self._handle(ws, frame)
        return None

    async def _replace(
        self, session: aiohttp.ClientSession, old: aiohttp.ClientWebSocketResponse
    ) -> aiohttp.ClientWebSocketResponse:
        """Open the next socket before the old one is left, so that events always find one."""
        new = await self._open(session)
        log.info("slack.replaced", action="connect")
        await old.close()
        return new

    def _handle(self, ws: aiohttp.ClientWebSocketResponse, frame: dict[str, Any]) -> None:
        envelope = frame.get("envelope_id")
        if not isinstance(envelope, str):
            log.debug("slack.not_for_us", action="receive")
            return
        task = asyncio.create_task(self._acknowledge(ws, envelope, frame))
        self._handling.add(task)
        task.add_done_callback(self._handling.discard)

    async def _acknowledge(
        self, ws: aiohttp.ClientWebSocketResponse, envelope: str, frame: dict[str, Any]
    ) -> None:
        if not await self._dispatcher.from_socket(frame.get("payload")):
            return
        try:
            await ws.send_json({"envelope_id": envelope})
        except (aiohttp.ClientError, ConnectionError):
            # Slack delivers again on another socket, and the intake knows the event.
            log.info("slack.unacknowledged", action="receive")


def _frame(text: str) -> dict[str, Any]:
    try:
        frame = json.loads(text)
    except ValueError:
        frame = None
    return frame if isinstance(frame, dict) else {}


def _not_greeted(frame: dict[str, Any]) -> PlatformError:
    if frame.get("reason") == "link_disabled":
        return _SWITCHED_OFF
    return PlatformError("Slack did not greet", code="no_greeting", disposition=Disposition.RETRY)
