"""The one connection of an app, shared by its teams: open while any of them holds it."""

from __future__ import annotations

import asyncio
import random
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Protocol

import structlog

from adapters.slack.manifest import SLACK
from gateway.connection import Connection
from gateway.model.errors import CredentialsError, PlatformError
from gateway.policy.retry import Backoff
from gateway.ports import ConnectionState

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from gateway.ports import AdapterStatus, Clock

log: structlog.stdlib.BoundLogger = structlog.get_logger()

BACKOFF = Backoff(first=1.0, factor=2.0, ceiling=30.0, jitter=0.3, attempts=sys.maxsize)
#: seconds; a connection that ends sooner counts as one that failed
_SHORT = 5.0


class Transport(Protocol):
    """How payloads come: a socket, or a server that Slack posts to."""

    async def serve(self, connected: Callable[[], None]) -> None:
        """Connect, call ``connected``, and receive until the connection ends.

        Raises ``PlatformError`` when there is no connection to be had.
        """
        ...


class Link:
    """Keeps the connection up. ``status`` is the connection's."""

    def __init__(
        self, transport: Transport, clock: Clock, *, roll: Callable[[], float] = random.random
    ) -> None:
        self._transport = transport
        self._clock = clock
        self._roll = roll
        self._task: asyncio.Task[None] | None = None
        self._failures = 0
        self._since = 0.0
        self._listeners: list[Callable[[], None]] = []
        self._connection = Connection(SLACK, clock)

    @property
    def status(self) -> AdapterStatus:
        """Return how the connection is."""
        return self._connection.status

    @asynccontextmanager
    async def held(self, connected: Callable[[], None]) -> AsyncIterator[asyncio.Task[None]]:
        """Keep the connection up meanwhile; the task ends only when it can never work.

        ``connected`` is called whenever there is a connection that events may have been missed
        before, and before any event of it arrives.
        """
        self._listeners.append(connected)
        if self._task is None:
            self._task = asyncio.create_task(self._keep_up())
        elif self.status.state is ConnectionState.CONNECTED:
            connected()
        task = self._task
        try:
            yield task
        finally:
            self._listeners.remove(connected)
            if not self._listeners:
                self._task = None
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    async def _keep_up(self) -> None:
        self._failures = 0
        self._connection.report(ConnectionState.STARTING)
        while True:
            try:
                await self._transport.serve(self._connected)
            except CredentialsError as error:
                self._connection.report(ConnectionState.BAD_CREDENTIALS, str(error))
                return
            except PlatformError as error:
                await self._pause(str(error), error.retry_after)
            else:
                await self._ended()

    def _connected(self) -> None:
        self._since = self._clock.monotonic()
        self._connection.report(ConnectionState.CONNECTED)
        for listener in self._listeners:
            listener()

    async def _ended(self) -> None:
        if self._clock.monotonic() - self._since < _SHORT:
            await self._pause("Slack closed the connection", None)
        else:
            self._failures = 0
            self._connection.report(ConnectionState.RETRYING, "Slack closed the connection")

    async def _pause(self, detail: str, retry_after: float | None) -> None:
        self._failures += 1
        self._connection.report(ConnectionState.RETRYING, detail)
        delay = BACKOFF.delay(self._failures, retry_after=retry_after, roll=self._roll())
        await self._clock.sleep(BACKOFF.ceiling if delay is None else delay)
