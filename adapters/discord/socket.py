"""The gateway connection of one bot, by discord.py's socket without its client's loop.

``Client.connect`` of discord.py 2.7 dies when its first connection fails, when an event lacks a
field, and takes its address from a class attribute. Here the socket is opened with an address
of its own, hands every event out raw, and says what broke.
"""

from __future__ import annotations

import asyncio
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import discord
import yarl
from discord.gateway import DiscordWebSocket, ReconnectWebSocket, WebSocketClosure
from discord.state import ConnectionState

from adapters.discord.errors import BROKEN, translated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from adapters.discord.client import Client

Event = tuple[str, object]

#: seconds for HELLO and the rest of a connection's beginning
OPENING = 30.0
#: seconds for a polite farewell
CLOSING = 2.0


def intents() -> discord.Intents:
    """Return what is asked for: messages and what their places are, nothing else."""
    return discord.Intents(
        guilds=True, guild_messages=True, dm_messages=True, message_content=True
    )


class _Every(dict[str, Any]):
    """The library's table of parsers, with one entry for every event."""

    def __init__(self, arrived: Callable[[Event], None]) -> None:
        super().__init__()
        self._arrived = arrived

    def __missing__(self, kind: object) -> Callable[[object], None]:
        return lambda data: self._arrived((str(kind), data))


class _State(ConnectionState["_Shell"]):
    """Keeps no caches, and remembers a socket before it has proved to work."""

    socket: DiscordWebSocket | None = None

    def _update_references(self, ws: DiscordWebSocket) -> None:
        self.socket = ws


class _Shell(discord.Client):
    """The library's client, as far as its socket asks for one."""

    def __init__(self, arrived: Callable[[Event], None]) -> None:
        self._arrived = arrived
        super().__init__(intents=intents(), max_messages=None)

    def _get_state(self, **options: Any) -> _State:
        state = _State(
            dispatch=self.dispatch,
            handlers=self._handlers,
            hooks=self._hooks,
            http=self.http,
            **options,
        )
        state.parsers = _Every(self._arrived)
        self.state = state
        return state

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """Wait for nothing: the budget of sessions is kept outside."""


class Socket:
    """One connection after the other; a session is resumed as long as Discord lets it be.

    Nothing is read between two calls of ``read``: a slow receiver slows the socket, and its
    memory holds one frame.
    """

    def __init__(self, client: Client, gateway_url: str) -> None:
        self._client = client
        self._gateway = yarl.URL(gateway_url)
        self._shell: _Shell | None = None
        self._socket: DiscordWebSocket | None = None
        self._arrived: list[Event] = []
        self._session: dict[str, Any] = {}

    @property
    def resumable(self) -> bool:
        """Whether the next ``open`` goes on with the session."""
        return bool(self._session)

    async def open(self) -> None:
        """Connect, and begin or resume a session. Raises ``PlatformError``."""
        await self.close()
        rest = await self._client.rest()
        shell = self._shell = _Shell(self._arrived.append)
        await shell._async_setup_hook()
        shell.http = shell.state.http = rest
        wanted = {"gateway": self._gateway} | self._session
        # Where it leads to another address that does not answer, the next try takes ours.
        self._session.pop("gateway", None)
        with self._watched():
            async with asyncio.timeout(OPENING):
                self._socket = await DiscordWebSocket.from_client(shell, **wanted)

    async def read(self) -> list[Event]:
        """Return the events of the next frame, mostly one. Raises ``PlatformError``."""
        with self._watched():
            if self._socket is None:
                raise WebSocketClosure
            await self._socket.poll_event()
        self._session = _resumption(self._socket)
        events = self._arrived[:]
        self._arrived.clear()
        return events

    async def close(self, *, final: bool = False) -> None:
        """End the connection. Unless ``final`` the session waits at Discord for some minutes."""
        shell, self._shell, self._socket = self._shell, None, None
        if shell is None or shell.state.socket is None:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSING):
                await shell.state.socket.close(1000 if final else 4000)

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Raise what breaks as ``PlatformError``, and judge whether the session can go on."""
        with translated():
            try:
                yield
            except ReconnectWebSocket as wish:
                self._session = _resumption(self._socket) if wish.resume else {}
                raise
            except BROKEN:
                self._session = {}  # a resumed one would bring the same frame again
                raise


def _resumption(socket: DiscordWebSocket | None) -> dict[str, Any]:
    """Return what resumes a socket's session, nothing when it has none."""
    if socket is None or socket.session_id is None or socket.sequence is None:
        return {}
    return {
        "gateway": socket.gateway,
        "session": socket.session_id,
        "sequence": socket.sequence,
        "resume": True,
    }
