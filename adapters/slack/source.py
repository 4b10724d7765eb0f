"""Receiving for one team: whose token it is, its share of the connection, what was missed."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING, TypeVar

import structlog

from adapters.slack.catchup import CatchUp, now_ts
from adapters.slack.inlet import Inlet
from adapters.slack.link import BACKOFF
from adapters.slack.manifest import SLACK
from adapters.slack.people import View
from gateway.connection import Connection
from gateway.model.errors import CredentialsError, Disposition, PlatformError, StoreError
from gateway.ports import ConnectionState, Cursor

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from adapters.slack.catchup import Sweep
    from adapters.slack.client import Client
    from adapters.slack.dispatch import Dispatcher
    from adapters.slack.link import Link
    from adapters.slack.people import Me
    from adapters.slack.profiles import Profiles
    from gateway.model.errors import GatewayError
    from gateway.model.ids import AccountId
    from gateway.ports import AdapterStatus, Clock, Intake

log: structlog.stdlib.BoundLogger = structlog.get_logger()


_T = TypeVar("_T")


class Source:
    """The receiving half of one team: one ``run`` at a time, repeatable."""

    def __init__(
        self,
        client: Client,
        account: AccountId,
        clock: Clock,
        *,
        link: Link,
        dispatcher: Dispatcher,
        profiles: Profiles,
        sweep: Sweep,
        threads: bool,
        roll: Callable[[], float] = random.random,
    ) -> None:
        self._client = client
        self._account = account
        self._clock = clock
        self._link = link
        self._dispatcher = dispatcher
        self._profiles = profiles
        self._sweep = sweep
        self._threads = threads
        self._roll = roll
        self._connected = asyncio.Event()
        self._doubted = asyncio.Event()
        self._own = Connection(SLACK, clock, account=account)
        #: our token is good: the connection is all that counts
        self._identified = False

    @property
    def status(self) -> AdapterStatus:
        """The connection's state, or our token's where that is the trouble."""
        return (self._link if self._identified else self._own).status

    def doubt(self) -> None:
        """Check the token again: Slack has refused it for something else."""
        self._doubted.set()

    async def run(self, intake: Intake) -> None:
        """Receive until cancelled; return only when Slack refuses a token."""
        self._report(ConnectionState.STARTING)
        try:
            while await self._receive(intake):
                pass
        except CredentialsError as error:
            self._report(ConnectionState.BAD_CREDENTIALS, str(error))
        finally:
            last = self.status
            if last.state is ConnectionState.BAD_CREDENTIALS:
                self._report(last.state, last.detail)
            else:
                self._report(ConnectionState.STOPPED)

    async def _receive(self, intake: Intake) -> bool:
        """Receive until our token is in doubt (True) or the connection can never work."""
        with self._dispatcher.expecting(self._account):
            me = await self._persist(lambda: self._identify(intake))
            view = View(me, self._threads, self._profiles.known)
            inlet = Inlet(view, intake, self._clock, seen=self._profiles.notice)
            with self._dispatcher.attached(inlet):
                try:
                    return await self._stay(inlet, intake)
                finally:
                    await inlet.aclose()

    async def _identify(self, intake: Intake) -> Me:
        me = await self._client.whoami(self._account)
        first = Cursor(f"{SLACK}.bare_team", me.team, fixed=True)
        await intake.accept((SLACK, self._account), (), first)
        return me

    async def _stay(self, inlet: Inlet, intake: Intake) -> bool:
        self._doubted.clear()

        def connected() -> None:
            inlet.complete = False
            self._connected.set()

        async with self._link.held(connected) as connection:
            self._identified = True
            catching = asyncio.create_task(self._catch_up(inlet, intake))
            doubted = asyncio.create_task(self._doubted.wait())
            try:
                await asyncio.wait(
                    {connection, catching, doubted}, return_when=asyncio.FIRST_COMPLETED
                )
            finally:
                catching.cancel()
                doubted.cancel()
                found, _ = await asyncio.gather(catching, doubted, return_exceptions=True)
            if isinstance(found, Exception):
                raise found
            return not connection.done()

    async def _catch_up(self, inlet: Inlet, intake: Intake) -> None:
        """Read back what was missed, after each outage; ends with a ``CredentialsError`` only."""
        while True:
            await self._connected.wait()
            self._connected.clear()
            await self._persist(lambda: self._read_back(inlet, intake))

    async def _read_back(self, inlet: Inlet, intake: Intake) -> None:
        cursor = await intake.cursor(inlet.cursor_name)
        if cursor is not None:
            await self._read_since(cursor, inlet)
        newest = inlet.newest or cursor or now_ts(self._clock)
        await inlet.mark(newest, complete=not self._connected.is_set())

    async def _read_since(self, cursor: str, inlet: Inlet) -> None:
        try:
            await CatchUp(self._client, inlet, self._clock, sweep=self._sweep).run(cursor)
        except PlatformError as error:
            if error.disposition is not Disposition.GIVE_UP or error.code == CredentialsError.code:
                raise
            log.warning("slack.nothing_read_back", action="catch-up", why=str(error))

    async def _persist(self, work: Callable[[], Awaitable[_T]]) -> _T:
        """Do ``work`` until it succeeds; only a refused token ends it."""
        failures = 0
        while True:
            try:
                return await work()
            except CredentialsError:
                raise
            except (PlatformError, StoreError) as error:
                failures += 1
                await self._pause(failures, error)

    async def _pause(self, failures: int, error: GatewayError) -> None:
        if not self._identified:
            self._report(ConnectionState.RETRYING, str(error))
        log.info("slack.again", action="receive", account=self._account, code=error.code)
        delay = BACKOFF.delay(failures, retry_after=error.retry_after, roll=self._roll())
        await self._clock.sleep(BACKOFF.ceiling if delay is None else delay)

    def _report(self, state: ConnectionState, detail: str = "") -> None:
        self._identified = False
        self._own.report(state, detail)
