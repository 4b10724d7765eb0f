"""Receiving: a durable getUpdates loop that confirms only what the intake has stored."""

from __future__ import annotations

import hashlib
import json
import random
import sys
from typing import TYPE_CHECKING

import structlog

from adapters.telegram.fields import ParseError
from adapters.telegram.manifest import TELEGRAM
from adapters.telegram.parse import parse
from gateway.model.errors import (
    ConflictError,
    CredentialsError,
    Disposition,
    PlatformError,
    StoreError,
)
from gateway.policy.retry import Backoff
from gateway.ports import AdapterStatus, ConnectionState, Cursor, Received

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from adapters.telegram.client import Client
    from adapters.telegram.words import Me
    from gateway.model.errors import GatewayError
    from gateway.model.ids import AccountId
    from gateway.ports import Clock, Intake

log: structlog.stdlib.BoundLogger = structlog.get_logger()

POLL_SECONDS = 30
BACKOFF = Backoff(first=1.0, factor=2.0, ceiling=30.0, jitter=0.3, attempts=sys.maxsize)


class Source:
    """The receiving half of one bot: one ``run`` at a time, repeatable.

    Telegram forgets an update when a poll names a higher offset. The offset is taken from the
    intake's cursor and moves only after ``accept`` returned, so a crash or a full disk at any
    point repeats updates and loses none.
    """

    def __init__(
        self,
        client: Client,
        account: AccountId,
        clock: Clock,
        *,
        commands: Sequence[tuple[str, str]] = (),
        poll_seconds: int = POLL_SECONDS,
        roll: Callable[[], float] = random.random,
    ) -> None:
        self._client = client
        self._account = account
        self._clock = clock
        self._commands = commands
        self._poll_seconds = poll_seconds
        self._roll = roll
        self._cursor = f"{TELEGRAM}:{account}"
        self._me: Me | None = None
        self._offset: int | None = None
        self._failures = 0
        #: shown with the connected state
        self._note = ""
        self.status = AdapterStatus(ConnectionState.STARTING)

    async def run(self, intake: Intake) -> None:
        """Receive until cancelled; return only when Telegram refuses the token."""
        self._me, self._failures = None, 0
        self._report(ConnectionState.STARTING)
        try:
            while await self._step(intake):
                pass
        finally:
            if self.status.state is not ConnectionState.BAD_CREDENTIALS:
                self._report(ConnectionState.STOPPED)

    async def _step(self, intake: Intake) -> bool:
        try:
            if self._me is None:
                self._me = await self._connect(intake)
            await self._receive(intake, self._me)
        except CredentialsError as error:
            if self._me is None:
                self._report(ConnectionState.BAD_CREDENTIALS, str(error))
                return False
            self._me = None  # getMe tells a revoked token from a passing 404
            await self._pause(error)
        except (PlatformError, StoreError) as error:
            await self._pause(error)
        else:
            self._failures = 0
            self._report(ConnectionState.CONNECTED, self._note)
        return True

    async def _connect(self, intake: Intake) -> Me:
        me = await self._client.get_me()
        if await self._client.drop_webhook():
            self._note = "a webhook was set for this bot and has been removed"
        try:
            await self._client.set_commands(self._commands)
        except PlatformError as error:
            log.warning(
                "telegram.no_command_menu", action="connect", account=self._account, why=str(error)
            )
        stored = await intake.cursor(self._cursor)
        self._offset = None if stored is None else int(stored)
        return me

    async def _receive(self, intake: Intake, me: Me) -> None:
        answer = await self._client.get_updates(self._offset, self._patience())
        if not isinstance(answer, list):
            raise _unreadable("is no list of updates")
        if not answer:
            return
        received = [self._read(update, me) for update in answer]
        numbers = [number for number in map(update_number, answer) if number is not None]
        if not numbers:
            raise _unreadable("holds no numbered update")
        # From this batch alone: after a silent week Telegram may begin at lower numbers.
        offset = max(numbers) + 1
        await intake.accept((TELEGRAM, self._account), received, Cursor(self._cursor, str(offset)))
        self._offset = offset

    def _patience(self) -> int:
        """Return how long to poll: the first one after trouble ends at once, to show it is over.

        A conflict is over only when a whole poll went undisturbed.
        """
        settled = (ConnectionState.CONNECTED, ConnectionState.CONFLICT)
        return self._poll_seconds if self.status.state in settled else 0

    def _read(self, update: object, me: Me) -> Received:
        raw = json.dumps(update, separators=(",", ":")).encode("ascii")
        number = update_number(update)
        name = f"sha256:{hashlib.sha256(raw).hexdigest()}" if number is None else str(number)
        try:
            return Received(raw, name, parse(update, me=me))
        except ParseError as fault:
            log.warning(
                "telegram.set_aside",
                action="receive",
                account=self._account,
                update=name,
                fault=str(fault),
            )
            return Received(raw, name, fault=str(fault))

    async def _pause(self, error: GatewayError) -> None:
        self._failures += 1
        conflict = isinstance(error, ConflictError)
        state = ConnectionState.CONFLICT if conflict else ConnectionState.RETRYING
        self._report(state, str(error))
        if error.code == "timeout":
            return
        delay = BACKOFF.delay(self._failures, retry_after=error.retry_after, roll=self._roll())
        await self._clock.sleep(BACKOFF.ceiling if delay is None else delay)

    def _report(self, state: ConnectionState, detail: str = "") -> None:
        if (state, detail) == (self.status.state, self.status.detail):
            return
        same = state is self.status.state
        since = self.status.since if same else self._clock.now()
        self.status = AdapterStatus(state, detail, since)
        if not same:
            write = log.info if state in _CALM else log.warning
            write(f"telegram.{state}", action="connect", account=self._account, detail=detail)


_CALM = (ConnectionState.STARTING, ConnectionState.CONNECTED, ConnectionState.STOPPED)


def update_number(update: object) -> int | None:
    """Return the update's own number, None when it has none that is usable."""
    number = update.get("update_id") if isinstance(update, dict) else None
    return number if type(number) is int else None


def _unreadable(why: str) -> PlatformError:
    return PlatformError(
        f"Telegram's answer {why}", code="unreadable", disposition=Disposition.RETRY
    )
