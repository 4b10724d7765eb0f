"""The WebSocket side: HELLO, IDENTIFY, RESUME, heartbeats, and the events of all sessions."""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from typing import TYPE_CHECKING, Any

from aiohttp import WSMsgType, web

from tests.emulators.discord.faults import FaultKind
from tests.emulators.discord.sessions import MESSAGE_CONTENT, PRIVILEGED, Session, Socket

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.emulators.discord.faults import Faults
    from tests.emulators.discord.world import Bot, World

Json = dict[str, Any]

HEARTBEAT_MS = 41_250


class Gateway:
    """Serves the gateway of one ``World``; sessions outlive their sockets."""

    def __init__(self, world: World, faults: Faults, on_change: Callable[[], None]) -> None:
        self.muted = False
        self.heartbeat_ms = HEARTBEAT_MS
        #: monotonic times of every IDENTIFY and RESUME
        self.identifies: list[float] = []
        self.resumes: list[float] = []
        self._world = world
        self._faults = faults
        self._on_change = on_change
        self._sessions: dict[str, Session] = {}
        self._sockets: set[Socket] = set()

    @property
    def live(self) -> list[Session]:
        """Sessions that have a socket now."""
        return [session for session in self._sessions.values() if session.socket is not None]

    # --- control ---

    def announce(self, kind: str, data: Json, *, owner: str | None = None) -> None:
        """Send an event to every session (of bot ``owner`` only, if set) that wants it."""
        for session in self._sessions.values():
            if owner not in (None, session.bot.id):
                continue
            if session.wants(kind, guild="guild_id" in data):
                session.push(kind, _shown(session, kind, data))

    def cut(self, code: int | None) -> None:
        """End every connection."""
        for socket in self._sockets:
            socket.put(code)

    def forget(self) -> None:
        """Drop all sessions: none of them can be resumed."""
        self._sessions.clear()

    def operate(self, op: int, data: Any) -> None:
        """Send an operation to every connection."""
        self.frame(json.dumps({"op": op, "d": data, "s": None, "t": None}))

    def frame(self, text: str) -> None:
        """Send a raw frame to every connection."""
        for socket in self._sockets:
            socket.put(text)

    def revoke(self, bot: Bot) -> None:
        """End a bot's sessions as a token reset does."""
        for session in [one for one in self._sessions.values() if one.bot is bot]:
            if session.socket is not None:
                session.socket.put(4004)
            del self._sessions[session.id]

    # --- connections ---

    async def connect(self, request: web.Request) -> web.StreamResponse:
        """Serve one connection."""
        if fault := self._faults.take({FaultKind.ERROR}, "ws"):
            return web.Response(status=fault.status)
        response = web.WebSocketResponse(compress=False, autoping=True)
        await response.prepare(request)
        socket = Socket(response, request, request.query.get("compress", ""))
        socket.put(json.dumps({"op": 10, "d": {"heartbeat_interval": self.heartbeat_ms}}))
        self._sockets.add(socket)
        writer = asyncio.create_task(socket.write())
        try:
            await self._read(socket)
        finally:
            self._lost(socket)
            writer.cancel()
            await asyncio.gather(writer, return_exceptions=True)
        return response

    async def _read(self, socket: Socket) -> None:
        async for message in socket.response:
            if message.type is not WSMsgType.TEXT:
                return
            payload = json.loads(message.data)
            match payload["op"]:
                case 1 if not self.muted:
                    socket.put(json.dumps({"op": 11, "d": None}))
                case 2:
                    self._identify(socket, payload["d"])
                case 6:
                    self._resume(socket, payload["d"])

    def _lost(self, socket: Socket) -> None:
        self._sockets.discard(socket)
        for session in self._sessions.values():
            if session.socket is socket:
                session.socket = None
        self._on_change()

    def _identify(self, socket: Socket, data: Json) -> None:
        self.identifies.append(time.monotonic())
        bot = self._world.bots.get(data["token"])
        if bot is None or bot.revoked:
            return socket.put(4004)
        bot.identifies_left -= 1
        if bot.intents_denied and data["intents"] & PRIVILEGED:
            return socket.put(4014)
        session = Session(secrets.token_hex(16), bot, data["intents"], socket)
        self._sessions[session.id] = session
        session.push("READY", self._ready(session))
        for guild in self._world.guilds:
            session.push("GUILD_CREATE", self._world.guild_object(guild))
        return self._on_change()

    def _ready(self, session: Session) -> Json:
        return {
            "v": 10,
            "user": session.bot.user,
            "guilds": [{"id": guild, "unavailable": True} for guild in self._world.guilds],
            "session_id": session.id,
            "resume_gateway_url": self._world.address.replace("http", "ws", 1),
            "application": {"id": session.bot.id, "flags": 0},
            "private_channels": [],
            "session_type": "normal",
        }

    def _resume(self, socket: Socket, data: Json) -> None:
        self.resumes.append(time.monotonic())
        session = self._sessions.get(data["session_id"])
        sequence = data["seq"]
        if session is None or not session.can_replay(sequence):
            return socket.put(json.dumps({"op": 9, "d": False}))
        session.resume(socket, sequence)
        return self._on_change()


def _shown(session: Session, kind: str, data: Json) -> Json:
    """Empty what a bot without the message content intent may not read."""
    if kind not in ("MESSAGE_CREATE", "MESSAGE_UPDATE") or "guild_id" not in data:
        return data
    named = [user["id"] for user in data.get("mentions", ())]
    own = data.get("author", {}).get("id") == session.bot.id
    if session.intents & MESSAGE_CONTENT or own or session.bot.id in named:
        return data
    return data | {"content": "", "attachments": [], "embeds": [], "components": []}
