"""A client's session: numbered events that are kept while its socket is away."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aiohttp import WSCloseCode

from tests.emulators.discord.compression import compressor

if TYPE_CHECKING:
    from aiohttp import web

    from tests.emulators.discord.world import Bot

Json = dict[str, Any]

LOG_LENGTH = 1000

GUILD_MESSAGES, DIRECT_MESSAGES, MESSAGE_CONTENT = 1 << 9, 1 << 12, 1 << 15
PRIVILEGED = (1 << 1) | (1 << 8) | MESSAGE_CONTENT

#: a frame to send, a close code, or None to break the connection
Order = str | int | None


class Socket:
    """One connection. What is put in goes out in order; a broken one swallows the rest."""

    def __init__(
        self, response: web.WebSocketResponse, request: web.Request, compression: str
    ) -> None:
        self.response = response
        self._request = request
        self._compress = compressor(compression)
        self._orders: asyncio.Queue[Order] = asyncio.Queue()

    def put(self, order: Order) -> None:
        """Send a frame, close with a code, or break the connection (None), after what waits."""
        self._orders.put_nowait(order)

    async def write(self) -> None:
        """Carry out orders until the connection ends."""
        while True:
            order = await self._orders.get()
            if order is None:
                if self._request.transport is not None:
                    self._request.transport.abort()
                return
            if isinstance(order, int):
                await self.response.close(code=order)
                return
            await self._send(self._compress(order))

    async def _send(self, frame: str | bytes) -> None:
        if isinstance(frame, str):
            await self.response.send_str(frame)
        else:
            await self.response.send_bytes(frame)


@dataclass(slots=True)
class Session:
    """What one IDENTIFY opened."""

    id: str
    bot: Bot
    intents: int
    socket: Socket | None
    sequence: int = 0
    log: deque[tuple[int, str]] = field(default_factory=lambda: deque(maxlen=LOG_LENGTH))

    def push(self, kind: str, data: Any) -> None:
        """Number an event and send it, or keep it for the next RESUME."""
        self.sequence += 1
        frame = json.dumps({"op": 0, "s": self.sequence, "t": kind, "d": data})
        self.log.append((self.sequence, frame))
        if self.socket is not None:
            self.socket.put(frame)

    def can_replay(self, sequence: int) -> bool:
        """Return whether every event after ``sequence`` is still there."""
        oldest = self.log[0][0] if self.log else 1
        return oldest - 1 <= sequence <= self.sequence

    def resume(self, socket: Socket, sequence: int) -> None:
        """Take a new socket and replay what it missed."""
        if self.socket is not None:
            self.socket.put(int(WSCloseCode.OK))
        self.socket = socket
        for number, frame in self.log:
            if number > sequence:
                socket.put(frame)
        self.push("RESUMED", {"_trace": []})

    def wants(self, kind: str, *, guild: bool) -> bool:
        """Return whether the session's intents cover a message event."""
        if not kind.startswith("MESSAGE_"):
            return True
        return bool(self.intents & (GUILD_MESSAGES if guild else DIRECT_MESSAGES))
