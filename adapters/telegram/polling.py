"""Asking for updates: a durable getUpdates loop that confirms only what the intake has stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.telegram.manifest import TELEGRAM
from adapters.telegram.presses import Presses
from adapters.telegram.reading import cursor_name, read, update_number
from gateway.model.errors import Disposition, PlatformError
from gateway.ports import Cursor

if TYPE_CHECKING:
    from adapters.telegram.client import Client
    from adapters.telegram.words import Me
    from gateway.model.ids import AccountId
    from gateway.ports import Intake

POLL_SECONDS = 30


class Polling:
    """The ``Way`` that needs no address of its own.

    Telegram forgets an update when a poll names a higher offset. The offset is taken from the
    intake's cursor and moves only after ``accept`` returned, so a crash or a full disk at any
    point repeats updates and loses none.
    """

    def __init__(
        self, client: Client, account: AccountId, *, poll_seconds: int = POLL_SECONDS
    ) -> None:
        self._client = client
        self._account = account
        self._poll_seconds = poll_seconds
        self._listener: tuple[Me, Intake] | None = None
        self._offset: int | None = None
        self._presses = Presses(client)

    async def open(self, me: Me, intake: Intake) -> str:
        """See ``Way``: removes a webhook, which would keep every update from us."""
        removed = await self._client.drop_webhook()
        stored = await intake.cursor(cursor_name(self._account))
        self._offset = None if stored is None else int(stored)
        self._listener = me, intake
        return "a webhook was set for this bot and has been removed" if removed else ""

    async def receive(self, *, settled: bool) -> None:
        """See ``Way``: one poll, and what it brought is stored."""
        answer = await self._client.get_updates(self._offset, self._poll_seconds * settled)
        if not isinstance(answer, list):
            raise _unreadable("is no list of updates")
        if not answer or self._listener is None:
            return
        me, intake = self._listener
        received = [read(update, me) for update in answer]
        numbers = [number for number in map(update_number, answer) if number is not None]
        if not numbers:
            raise _unreadable("holds no numbered update")
        # From this batch alone: after a silent week Telegram may begin at lower numbers. By its
        # last number, not its highest: an update that comes twice and out of its order must not
        # confirm what was not in the answer.
        offset = numbers[-1] + 1
        cursor = Cursor(cursor_name(self._account), str(offset))
        await intake.accept((TELEGRAM, self._account), received, cursor)
        self._offset = offset
        self._presses.heard(received)

    async def close(self) -> None:
        """See ``Way``."""
        self._listener = None
        await self._presses.aclose()


def _unreadable(why: str) -> PlatformError:
    return PlatformError(
        f"Telegram's answer {why}", code="unreadable", disposition=Disposition.RETRY
    )
