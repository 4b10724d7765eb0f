"""The adapter on the emulated Telegram, with an intake and a clock that tests control."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from adapters.telegram.adapter import TelegramAdapter, create
from adapters.telegram.manifest import TELEGRAM, TelegramSettings
from gateway.model.ids import AccountId, MessageId, PlaceId, ThreadId
from gateway.model.outbound import Address, Part, RichText
from tests.fakes.skipping import SkippingClock

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from gateway.model.errors import StoreError
    from gateway.model.events import InboundEvent
    from gateway.model.ids import PlatformName, TurnId
    from gateway.ports import AdapterStatus, Cursor, Intake, Received
    from tests.emulators.telegram.emulator import TelegramEmulator

TOKEN = "123456:AAinventedTokenForTests_0123456789abcd"
OTHER_TOKEN = "654321:BBinventedTokenForTests_0123456789abcd"
COMMANDS = (("new", "Begin a new conversation"), ("help", "What I can do"))


class MemoryIntake:
    """Keeps what it accepted; ``refusals`` are raised first, ``gate`` holds ``accept`` back.

    With ``dies`` the process "ends" after the next batch is stored, before it is confirmed.
    """

    def __init__(self) -> None:
        self.received: list[Received] = []
        self.cursors: dict[str, str] = {}
        self.refusals: list[StoreError] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.waiting = asyncio.Event()
        self.dies = False

    async def accept(
        self,
        account: tuple[PlatformName, AccountId],
        received: Sequence[Received],
        cursor: Cursor | None = None,
    ) -> None:
        self.waiting.set()
        await self.gate.wait()
        if self.refusals:
            raise self.refusals.pop(0)
        assert account[0] == TELEGRAM
        self.received += received
        if cursor is not None:
            self.cursors[cursor.name] = cursor.value
        if self.dies:
            raise asyncio.CancelledError

    async def cursor(self, name: str) -> str | None:
        return self.cursors.get(name)

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
        self.adapter: TelegramAdapter | None = None
        self.seen: list[AdapterStatus] = []

    async def sleep(self, seconds: float) -> None:
        if self.adapter is not None:
            self.seen.append(self.adapter.status)
        await super().sleep(seconds)


def build_all(
    tg: TelegramEmulator, clock: WatchingClock, tokens: str = TOKEN, **settings: Any
) -> list[TelegramAdapter]:
    """Return the adapters of all tokens for the emulator."""
    chosen = TelegramSettings(base_url=tg.base_url, base_file_url=tg.base_file_url, **settings)
    adapters = create(chosen, {"TELEGRAM_BOT_TOKEN": tokens}, clock=clock, commands=COMMANDS)
    built: list[TelegramAdapter] = []
    built += [adapter for adapter in adapters if isinstance(adapter, TelegramAdapter)]
    assert len(built) == len(adapters)
    clock.adapter = built[0]
    return built


@asynccontextmanager
async def opened(
    tg: TelegramEmulator, clock: WatchingClock | None = None, token: str = TOKEN, **settings: Any
) -> AsyncIterator[TelegramAdapter]:
    """Give an adapter that only sends, and close it."""
    [adapter] = build_all(tg, clock or WatchingClock(), token, **settings)
    try:
        yield adapter
    finally:
        await adapter.aclose()


@asynccontextmanager
async def running_all(
    tg: TelegramEmulator, intake: Intake, clock: WatchingClock | None = None, **wanted: Any
) -> AsyncIterator[list[TelegramAdapter]]:
    """Give adapters that receive, then cancel and close them."""
    adapters = build_all(tg, clock or WatchingClock(), **wanted)
    tasks = [asyncio.create_task(adapter.run(intake)) for adapter in adapters]
    try:
        yield adapters
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for adapter in adapters:
            await adapter.aclose()


@asynccontextmanager
async def running(
    tg: TelegramEmulator,
    intake: Intake,
    clock: WatchingClock | None = None,
    token: str = TOKEN,
    **settings: Any,
) -> AsyncIterator[TelegramAdapter]:
    """Give an adapter that receives, then cancel and close it."""
    async with running_all(tg, intake, clock, tokens=token, **settings) as [adapter]:
        yield adapter


async def until(condition: Callable[[], Any], timeout: float = 5.0) -> None:
    """Wait until ``condition()`` is true."""
    async with asyncio.timeout(timeout):
        while not condition():  # noqa: ASYNC110  (statuses and queues have no event to await)
            await asyncio.sleep(0.002)


def part(
    content: str | RichText,
    chat: int = 42,
    *,
    thread: int | None = None,
    reply_to: int | None = None,
    turn: TurnId | None = None,
) -> Part:
    """Return a part for a chat of the first bot."""
    return Part(
        "key",
        address(chat, thread),
        RichText(content) if isinstance(content, str) else content,
        reply_to=None if reply_to is None else MessageId(str(reply_to)),
        turn=turn,
    )


def address(chat: int = 42, thread: int | None = None) -> Address:
    """Return the address of a chat or topic."""
    topic = None if thread is None else ThreadId(str(thread))
    return Address(TELEGRAM, AccountId("123456"), PlaceId(str(chat)), topic)
