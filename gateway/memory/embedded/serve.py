"""The embedded service, running in the gateway's own event loop on a port of its own."""

from __future__ import annotations

import asyncio
import secrets
import socket
from typing import TYPE_CHECKING, Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from gateway.memory.embedded import app
from gateway.memory.embedded.memory import Memory
from gateway.memory.embedded.rules import ByRule

if TYPE_CHECKING:
    from gateway.memory.embedded.deriver import Deriver
    from gateway.ports import Clock
    from gateway.store.engine import Store

#: longer than clients keep idle connections: a reused one is never just being closed
_KEEP_ALIVE = 75
#: seconds that running requests get at the end
_LAST_WORDS = 5


class EmbeddedService:
    """A memory service of this process alone: loopback, random port, random key.

    Whoever has the key has all workspaces, so it must go nowhere but to our own clients.
    """

    def __init__(self, store: Store, clock: Clock, deriver: Deriver | None = None) -> None:
        """``store`` must be at the present schema and stay open until ``stop`` has returned."""
        self.key = secrets.token_urlsafe(32)
        self._memory = Memory(store, clock, deriver or ByRule())
        self._server: uvicorn.Server | None = None
        self._ticking: asyncio.Task[None] | None = None

    async def start(self) -> str:
        """Listen and return the address for clients, ``http://127.0.0.1:PORT``."""
        listening = _free_port()
        config = uvicorn.Config(
            app.build(self._memory, self.key),
            http=_Unlogged,
            log_config=None,
            lifespan="off",
            ws="none",
            server_header=False,
            timeout_keep_alive=_KEEP_ALIVE,
            timeout_graceful_shutdown=_LAST_WORDS,
        )
        config.load()
        server = self._server = uvicorn.Server(config)
        # the steps of Server.serve, which would take over the process's signals as well
        server.lifespan = config.lifespan_class(config)
        await server.startup([listening])
        self._ticking = asyncio.create_task(server.main_loop(), name="embedded-memory")
        return f"http://127.0.0.1:{listening.getsockname()[1]}"

    async def stop(self) -> None:
        """Finish running requests, refuse new ones, release the port. May be called twice."""
        server, self._server = self._server, None
        ticking, self._ticking = self._ticking, None
        if server is not None and ticking is not None:
            server.should_exit = True
            await ticking
            await server.shutdown()


def _free_port() -> socket.socket:
    """Bind a port. Without the protocol's name asyncio would leave Nagle's algorithm on: 40 ms."""
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.bind(("127.0.0.1", 0))
    return bound


class _Unlogged(H11Protocol):
    """Writes no access log, whoever else in the process switches on uvicorn's: paths hold text."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.access_log = False
