"""Receiving: connects, says how the connection is, and survives whatever happens to it."""

from __future__ import annotations

import random
import sys
from typing import TYPE_CHECKING, Protocol

import structlog

from adapters.telegram.manifest import TELEGRAM
from gateway.connection import Connection
from gateway.model.errors import ConflictError, CredentialsError, PlatformError, StoreError
from gateway.policy.retry import Backoff
from gateway.ports import ConnectionState

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from adapters.telegram.client import Client
    from adapters.telegram.words import Me
    from gateway.model.errors import GatewayError
    from gateway.model.ids import AccountId
    from gateway.ports import AdapterStatus, Clock, Intake

log: structlog.stdlib.BoundLogger = structlog.get_logger()

BACKOFF = Backoff(first=1.0, factor=2.0, ceiling=30.0, jitter=0.3, attempts=sys.maxsize)


class Way(Protocol):
    """How updates come to one bot. Every method raises ``PlatformError`` or ``StoreError``."""

    async def open(self, me: Me, intake: Intake) -> str:
        """Begin, also once more after trouble; return what the status is to say of it, or ""."""
        ...

    async def receive(self, *, settled: bool) -> None:
        """Take updates in for some while; at once over where that is all right and not settled.

        So the first call after trouble shows that it has passed.
        """
        ...

    async def close(self) -> None:
        """Take nothing in any more. Never raises."""
        ...


class Source:
    """The receiving half of one bot: one ``run`` at a time, repeatable."""

    def __init__(
        self,
        client: Client,
        account: AccountId,
        clock: Clock,
        way: Way,
        *,
        commands: Sequence[tuple[str, str]] = (),
        roll: Callable[[], float] = random.random,
    ) -> None:
        self._client = client
        self._account = account
        self._clock = clock
        self._way = way
        self._commands = commands
        self._roll = roll
        self._connected = False
        self._failures = 0
        #: shown with the connected state
        self._note = ""
        self._connection = Connection(TELEGRAM, clock, account=account)

    @property
    def status(self) -> AdapterStatus:
        """Return how the connection is."""
        return self._connection.status

    async def run(self, intake: Intake) -> None:
        """Receive until cancelled; return only when Telegram refuses the token."""
        self._connected, self._failures = False, 0
        self._connection.report(ConnectionState.STARTING)
        try:
            while await self._step(intake):
                pass
        finally:
            await self._way.close()
            if self.status.state is not ConnectionState.BAD_CREDENTIALS:
                self._connection.report(ConnectionState.STOPPED)

    async def _step(self, intake: Intake) -> bool:
        try:
            if not self._connected:
                await self._connect(intake)
            await self._way.receive(settled=self._settled)
        except CredentialsError as error:
            if not self._connected:
                self._connection.report(ConnectionState.BAD_CREDENTIALS, str(error))
                return False
            self._connected = False  # getMe tells a revoked token from a passing 404
            await self._pause(error)
        except (PlatformError, StoreError) as error:
            await self._pause(error)
        else:
            self._failures = 0
            self._connection.report(ConnectionState.CONNECTED, self._note)
        return True

    @property
    def _settled(self) -> bool:
        """A conflict is over only when receiving went undisturbed for its whole time."""
        return self.status.state in (ConnectionState.CONNECTED, ConnectionState.CONFLICT)

    async def _connect(self, intake: Intake) -> None:
        self._note = await self._way.open(await self._client.get_me(), intake) or self._note
        try:
            await self._client.set_commands(self._commands)
        except PlatformError as error:
            log.warning(
                "telegram.no_command_menu", action="connect", account=self._account, why=str(error)
            )
        self._connected = True

    async def _pause(self, error: GatewayError) -> None:
        self._failures += 1
        conflict = isinstance(error, ConflictError)
        state = ConnectionState.CONFLICT if conflict else ConnectionState.RETRYING
        self._connection.report(state, str(error))
        if error.code == "timeout":
            return
        delay = BACKOFF.delay(self._failures, retry_after=error.retry_after, roll=self._roll())
        await self._clock.sleep(BACKOFF.ceiling if delay is None else delay)
