"""A real HTTP server on 127.0.0.1 that can go down and come back on the same port."""

from __future__ import annotations

import asyncio
import socket
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Self

from aiohttp import web

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

#: larger than anything a platform lets a bot upload
_LARGEST_BODY = 64 << 20


class LoopbackServer(ABC):
    """Base of the emulators: ``async with`` starts and stops it, state survives ``stop``.

    The port stays reserved while the server is down, so nobody else can answer there.
    ``cancel_on_disconnect`` cancels a handler when its client goes away.
    """

    def __init__(self, port: int = 0, *, cancel_on_disconnect: bool = False) -> None:
        self._reserved = _bound_socket(port)
        self._port: int = self._reserved.getsockname()[1]
        self._cancel_on_disconnect = cancel_on_disconnect
        self._runner: web.AppRunner | None = None
        self._changed = asyncio.Event()
        self._open: dict[asyncio.Task[object], web.BaseRequest] = {}

    @abstractmethod
    def routes(self) -> Sequence[web.RouteDef]:
        """Return what is served; asked at each start."""

    @property
    def address(self) -> str:
        """``http://127.0.0.1:PORT``, the same for the life of the object."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def serving(self) -> bool:
        """Whether the server listens; already false while it stops."""
        return self._runner is not None

    async def start(self) -> None:
        """Listen; nothing happens when it already does."""
        if self.serving:
            return
        app = web.Application(client_max_size=_LARGEST_BODY, middlewares=[self._track])
        app.add_routes(self.routes())
        self._runner = web.AppRunner(
            app,
            access_log=None,
            handler_cancellation=self._cancel_on_disconnect,
            shutdown_timeout=0.1,
        )
        await self._runner.setup()
        await web.SockSite(self._runner, _bound_socket(self._port)).start()

    async def stop(self) -> None:
        """Refuse new connections and cut the open ones, answered or not."""
        runner, self._runner = self._runner, None
        if runner is None:
            return
        for task, request in self._open.items():
            abort(request)
            task.cancel()
        await runner.cleanup()

    def tell_waiters(self) -> None:
        """Let those who wait in ``until`` look again."""
        self._changed.set()
        self._changed = asyncio.Event()

    async def until(self, reached: Callable[[], bool], timeout: float) -> bool:
        """Wait until ``reached()``, looking after each change; False when time is over."""
        try:
            async with asyncio.timeout(timeout):
                while not reached():
                    await self._changed.wait()
        except TimeoutError:
            return False
        return True

    async def aclose(self) -> None:
        """Stop for good and free the port."""
        await self.stop()
        self._reserved.close()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    @web.middleware
    async def _track(
        self,
        request: web.Request,
        handler: Callable[[web.Request], Awaitable[web.StreamResponse]],
    ) -> web.StreamResponse:
        task = asyncio.current_task()
        assert task is not None
        self._open[task] = request
        try:
            return await handler(request)
        finally:
            del self._open[task]


def abort(request: web.BaseRequest) -> web.Response:
    """Cut the connection as a crash would. The returned response never reaches anybody."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


def _bound_socket(port: int) -> socket.socket:
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound.bind(("127.0.0.1", port))
    return bound
