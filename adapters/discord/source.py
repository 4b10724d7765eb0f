"""Receiving: one supervised connection whose events are durable before more are read."""

from __future__ import annotations

import asyncio
import random
import sys
from typing import TYPE_CHECKING

import structlog

from adapters.discord.arrivals import Arrivals
from adapters.discord.budget import Budget
from adapters.discord.manifest import DISCORD
from gateway.connection import Connection
from gateway.model.errors import CredentialsError, PlatformError
from gateway.policy.retry import Backoff
from gateway.ports import ConnectionState

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from adapters.discord.client import Client
    from adapters.discord.preview import Previews
    from adapters.discord.socket import Event, Socket
    from gateway.model.ids import AccountId
    from gateway.ports import AdapterStatus, Clock, Intake

log: structlog.stdlib.BoundLogger = structlog.get_logger()

BACKOFF = Backoff(first=1.0, factor=2.0, ceiling=60.0, jitter=0.3, attempts=sys.maxsize)
#: frames that may wait for the store before the socket has to
MOST_WAITING = 500
#: a connection that lasted so long is reopened at once
STEADY = 10.0


class Source:
    """The receiving half of one bot: one ``run`` at a time, repeatable.

    Discord keeps events for a lost connection for some minutes; beyond that, and over a
    restart, each channel's history is read from its stored cursor.
    """

    def __init__(
        self,
        client: Client,
        socket: Socket,
        account: AccountId,
        clock: Clock,
        *,
        previews: Previews,
        commands: Sequence[tuple[str, str]] = (),
        roll: Callable[[], float] = random.random,
    ) -> None:
        self._client = client
        self._socket = socket
        self._account = account
        self._clock = clock
        self._previews = previews
        self._commands = commands
        self._roll = roll
        self._budget = Budget(clock)
        self._failures = 0
        self._live_since: float | None = None
        self._connection = Connection(DISCORD, clock, account=account)

    @property
    def status(self) -> AdapterStatus:
        """Return how the connection is."""
        return self._connection.status

    async def run(self, intake: Intake) -> None:
        """Receive until cancelled; return only when Discord can never serve this token."""
        self._failures, self._live_since = 0, None
        self._connection.report(ConnectionState.STARTING)
        events: asyncio.Queue[Event] = asyncio.Queue(MOST_WAITING)
        try:
            async with asyncio.TaskGroup() as tasks:
                arrivals = Arrivals(
                    self._client,
                    self._account,
                    intake,
                    self._clock,
                    previews=self._previews,
                    commands=self._commands,
                    tasks=tasks,
                )
                working = tasks.create_task(_work(events, arrivals))
                await self._receive(events)
                working.cancel()
        finally:
            await self._socket.close(final=True)
            if self.status.state is not ConnectionState.BAD_CREDENTIALS:
                self._connection.report(ConnectionState.STOPPED)

    async def _receive(self, events: asyncio.Queue[Event]) -> None:
        while True:
            try:
                await self._connect()
                await self._listen(events)
            except CredentialsError as error:
                self._connection.report(ConnectionState.BAD_CREDENTIALS, str(error))
                return
            except PlatformError as error:
                await self._pause(error)

    async def _connect(self) -> None:
        if not self._socket.resumable:
            await self._budget.take(await self._client.session_limit())
        await self._socket.open()

    async def _listen(self, events: asyncio.Queue[Event]) -> None:
        while True:
            for event in await self._socket.read():
                if event[0] in ("READY", "RESUMED"):
                    self._live()
                await events.put(event)

    def _live(self) -> None:
        self._live_since = self._clock.monotonic()
        self._connection.report(ConnectionState.CONNECTED)

    async def _pause(self, error: PlatformError) -> None:
        """Wait before the next connection; none where a steady one broke that can be resumed."""
        lasted = 0.0 if self._live_since is None else self._clock.monotonic() - self._live_since
        steady, self._live_since = lasted >= STEADY, None
        self._failures = 0 if steady else self._failures + 1
        self._connection.report(ConnectionState.RETRYING, str(error))
        if steady and self._socket.resumable:
            return
        delay = BACKOFF.delay(
            max(self._failures, 1), retry_after=error.retry_after, roll=self._roll()
        )
        await self._clock.sleep(BACKOFF.ceiling if delay is None else delay)


async def _work(events: asyncio.Queue[Event], arrivals: Arrivals) -> None:
    while True:
        await arrivals.take(await events.get())
