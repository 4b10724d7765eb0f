"""The adapter on the emulated Discord, with an intake and a clock that tests control."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from adapters.discord.adapter import DiscordAdapter, create
from adapters.discord.manifest import DISCORD, DiscordSettings
from gateway.model.ids import AccountId, MessageId, PlaceId, TurnId
from gateway.model.outbound import Address, Part, RichText
from gateway.ports import ConnectionState
from tests.emulators.discord import CHANNEL, TOKEN, make_token
from tests.fakes.skipping import SkippingClock

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from gateway.model.errors import StoreError
    from gateway.model.events import InboundEvent
    from gateway.model.ids import PlatformName
    from gateway.ports import AdapterStatus, Cursor, Intake, Received
    from tests.emulators.discord import DiscordEmulator

BOT = "111"
OTHER_TOKEN = make_token("112")
COMMANDS = (("new", "Begin a new conversation"), ("help", "What I can do"))


class MemoryIntake:
    """Keeps what it accepted, each event once; ``refusals`` are raised first.

    With ``dies`` the process "ends" after the next batch is stored.
    """

    def __init__(self) -> None:
        self.received: list[Received] = []
        self.cursors: dict[str, str] = {}
        self.refusals: list[StoreError] = []
        self.duplicates = 0
        self.dies = False
        self._keys: set[str] = set()

    async def accept(
        self,
        account: tuple[PlatformName, AccountId],
        received: Sequence[Received],
        cursor: Cursor | None = None,
    ) -> None:
        if self.refusals:
            raise self.refusals.pop(0)
        assert account == (DISCORD, BOT)
        for each in received:
            key = each.update if each.event is None else each.event.dedupe_key
            self.duplicates += key in self._keys
            if key not in self._keys:
                self.received.append(each)
            self._keys.add(key)
        if cursor is not None:
            self.cursors[cursor.name] = cursor.value
        if self.dies and received:
            raise asyncio.CancelledError

    async def cursor(self, name: str) -> str | None:
        return self.cursors.get(name)

    def read_to(self, channel: str) -> str | None:
        """Return the stored cursor of a channel."""
        return self.cursors.get(f"discord:{BOT}:{channel}")

    @property
    def events(self) -> list[InboundEvent]:
        """Return what could be parsed, oldest first."""
        return [each.event for each in self.received if each.event is not None]

    @property
    def texts(self) -> list[str]:
        return [event.text for event in self.events]


class WatchingClock(SkippingClock):
    """Notes the adapter's status whenever it waits."""

    def __init__(self) -> None:
        super().__init__()
        self.adapter: DiscordAdapter | None = None
        self.seen: list[AdapterStatus] = []

    async def sleep(self, seconds: float) -> None:
        if self.adapter is not None:
            self.seen.append(self.adapter.status)
        await super().sleep(seconds)


def build(emulator: DiscordEmulator, clock: WatchingClock, token: str = TOKEN) -> DiscordAdapter:
    """Return one adapter for the emulator."""
    settings = DiscordSettings(api_base=emulator.api_base, gateway_url=emulator.gateway_url)
    [adapter] = create(settings, {"DISCORD_BOT_TOKEN": token}, clock=clock, commands=COMMANDS)
    assert isinstance(adapter, DiscordAdapter)
    clock.adapter = adapter
    return adapter


@asynccontextmanager
async def opened(
    emulator: DiscordEmulator, clock: WatchingClock | None = None, token: str = TOKEN
) -> AsyncIterator[DiscordAdapter]:
    """Give an adapter that only sends, and close it."""
    adapter = build(emulator, clock or WatchingClock(), token)
    try:
        yield adapter
    finally:
        await adapter.aclose()


@asynccontextmanager
async def running(
    emulator: DiscordEmulator,
    intake: Intake,
    clock: WatchingClock | None = None,
    token: str = TOKEN,
    *,
    wait: bool = True,
) -> AsyncIterator[DiscordAdapter]:
    """Give an adapter that receives, then cancel and close it."""
    async with opened(emulator, clock, token) as adapter:
        task = asyncio.create_task(adapter.run(intake))
        try:
            if wait:
                await until(lambda: adapter.status.state is ConnectionState.CONNECTED)
            yield adapter
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


async def until(condition: Callable[[], Any], timeout: float = 5.0) -> None:
    """Wait until ``condition()`` is true."""
    async with asyncio.timeout(timeout):
        while not condition():  # noqa: ASYNC110  (statuses and queues have no event to await)
            await asyncio.sleep(0.002)


def part(
    content: str | RichText,
    channel: str = CHANNEL,
    *,
    key: str = "key",
    reply_to: str | None = None,
    turn: str | None = None,
    in_doubt: bool = False,
) -> Part:
    """Return a part for a channel of the bot."""
    return Part(
        key,
        address(channel),
        RichText(content) if isinstance(content, str) else content,
        turn=None if turn is None else TurnId(turn),
        reply_to=None if reply_to is None else MessageId(reply_to),
        in_doubt=in_doubt,
    )


def address(channel: str = CHANNEL) -> Address:
    """Return the address of a channel."""
    return Address(DISCORD, AccountId(BOT), PlaceId(channel))
