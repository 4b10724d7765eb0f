"""An ASGI application served from the gateway's own event loop, without a server's manners.

It takes over no signals, writes no access log and holds no lifespan of its own.
"""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING, Any

import uvicorn
from starlette.responses import Response
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: longer than clients keep idle connections: a reused one is never just being closed
_KEEP_ALIVE = 75
#: seconds that running requests get at the end, and then to say that they were broken off
_GRACE, _LAST_WORDS = 1, 2


class Listener:
    """Serves one application on one bound socket."""

    def __init__(self, app: ASGIApp, bound: socket.socket, *, name: str) -> None:
        self._app = _Breakable(app)
        self._bound = bound
        self._name = name
        self._server: uvicorn.Server | None = None
        self._ticking: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Listen; returns at once."""
        config = uvicorn.Config(
            self._app,
            http=_Unlogged,
            log_config=None,
            lifespan="off",
            ws="none",
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=_KEEP_ALIVE,
            timeout_graceful_shutdown=_LAST_WORDS,
        )
        config.load()
        server = self._server = uvicorn.Server(config)
        # the steps of Server.serve, which would take over the process's signals as well
        server.lifespan = config.lifespan_class(config)
        await server.startup([self._bound])
        self._ticking = asyncio.create_task(server.main_loop(), name=self._name)

    async def stop(self) -> None:
        """Refuse new requests, release the port. May be called twice.

        Running requests get a moment; what takes longer is broken off and answered with 503, so
        that whoever thinks long holds up no stop.
        """
        server, self._server = self._server, None
        ticking, self._ticking = self._ticking, None
        if server is not None and ticking is not None:
            server.should_exit = True
            await ticking
            breaking = asyncio.create_task(self._app.break_off(_GRACE))
            await server.shutdown()
            breaking.cancel()


class _Breakable:
    """An application whose running requests can be ended without a trace in the log."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._running: set[asyncio.Task[Any]] = set()
        self._ending = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a request is a task of the server
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        self._running.add(task)
        try:
            await self._app(scope, receive, watched)
        except asyncio.CancelledError:
            if not self._ending or started:
                raise
            await Response(status_code=503)(scope, receive, send)
        finally:
            self._running.discard(task)

    async def break_off(self, grace: float) -> None:
        """End what still runs after ``grace`` seconds."""
        await asyncio.sleep(grace)
        self._ending = True
        for task in self._running:
            task.cancel()


def bind(host: str, port: int) -> socket.socket:
    """Bind a port; raises ``OSError``.

    Without the protocol's name asyncio would leave Nagle's algorithm on, which costs 40 ms.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if port:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
    except OSError:
        bound.close()
        raise
    return bound


class _Unlogged(H11Protocol):
    """Writes no access log, whoever else in the process switches on uvicorn's: paths hold text."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.access_log = False
