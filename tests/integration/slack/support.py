"""The adapter on the emulated Slack, with an intake and a clock that tests control."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from adapters.slack.adapter import SlackAdapter, create
from adapters.slack.manifest import SLACK, SlackSettings, account_of
from gateway.model.ids import AccountId, PlaceId, ThreadId, TurnId
from gateway.model.outbound import Address, Part, RichText
from tests.emulators.slack import APP_TOKEN, SIGNING_SECRET, TOKEN

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from gateway.model.errors import StoreError
    from gateway.model.events import InboundEvent
    from gateway.model.ids import PlatformName
    from gateway.ports import AdapterStatus, Cursor, Intake, Received
    from tests.emulators.slack import SlackEmulator

ACCOUNT = account_of(TOKEN)
DM = "D0MIRA0001"
OTHER_TEAM = "T0BETA0002"
OTHER_TOKEN = "xoxb-100000000002-200000000002-EmulatedBotToken"
OTHER_ACCOUNT = account_of(OTHER_TOKEN)


class MemoryIntake:
    """Keeps what it accepted, each key once, as the real one does.

    ``refusals`` are raised first, ``gate`` holds ``accept`` back.
    """

    def __init__(self) -> None:
        self.received: list[Received] = []
        self.accounts: list[AccountId] = []
        self.batches: list[int] = []
        self.cursors: dict[str, str] = {}
        self.refusals: list[StoreError] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.waiting = asyncio.Event()
        self._keys: set[str] = set()

    async def accept(
        self,
        account: tuple[PlatformName, AccountId],
        received: Sequence[Received],
        cursor: Cursor | None = None,
    ) -> None:
        assert account[0] == SLACK
        if received:
            self.waiting.set()
            await self.gate.wait()
            if self.refusals:
                raise self.refusals.pop(0)
            self.batches.append(len(received))
        for each in received:
            key = each.update if each.event is None else each.event.dedupe_key
            if key not in self._keys:
                self._keys.add(key)
                self.received.append(each)
                self.accounts.append(account[1])
        if cursor is not None and not (cursor.fixed and cursor.name in self.cursors):
            self.cursors[cursor.name] = cursor.value

    async def cursor(self, name: str) -> str | None:
        return self.cursors.get(name)

    @property
    def events(self) -> list[InboundEvent]:
        """Return what could be parsed, oldest first."""
        return [each.event for each in self.received if each.event is not None]

    @property
    def texts(self) -> list[str]:
        return [event.text for event in self.events]


class HurriedClock:
    """Tells the real time, in which every pause is over at once; ``skipped`` jumps ahead."""

    def __init__(self) -> None:
        self.slept: list[float] = []
        self.skipped = 0.0
        self.adapter: SlackAdapter | None = None
        self.seen: list[AdapterStatus] = []

    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=self.skipped)

    def monotonic(self) -> float:
        return time.monotonic() + self.skipped

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        if self.adapter is not None:
            self.seen.append(self.adapter.status)
        await asyncio.sleep(min(seconds, 0.01))


def build_all(
    slack: SlackEmulator,
    clock: HurriedClock | None = None,
    token: str = TOKEN,
    app_token: str = APP_TOKEN,
    **settings: Any,
) -> list[SlackAdapter]:
    """Return the adapters of all tokens for the emulator."""
    secrets = {
        "SLACK_BOT_TOKEN": token,
        "SLACK_APP_TOKEN": app_token,
        "SLACK_SIGNING_SECRET": SIGNING_SECRET,
    }
    clock = clock or HurriedClock()
    chosen = SlackSettings(base_url=slack.base_url, **settings)
    adapters = create(chosen, secrets, clock=clock)
    built = [adapter for adapter in adapters if isinstance(adapter, SlackAdapter)]
    assert len(built) == len(adapters)
    clock.adapter = built[0]
    return built


@asynccontextmanager
async def opened(
    slack: SlackEmulator, clock: HurriedClock | None = None, **wanted: Any
) -> AsyncIterator[SlackAdapter]:
    """Give an adapter that only sends, and close it."""
    [adapter] = build_all(slack, clock, **wanted)
    try:
        yield adapter
    finally:
        await adapter.aclose()


@asynccontextmanager
async def running_all(
    slack: SlackEmulator, intake: Intake, clock: HurriedClock | None = None, **wanted: Any
) -> AsyncIterator[list[SlackAdapter]]:
    """Give adapters that receive, then cancel and close them."""
    adapters = build_all(slack, clock, **wanted)
    tasks = [asyncio.create_task(adapter.run(intake)) for adapter in adapters]
    try:
        yield adapters
    finally:
        for task in tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        for adapter in adapters:
            await adapter.aclose()


@asynccontextmanager
async def running(
    slack: SlackEmulator, intake: Intake, clock: HurriedClock | None = None, **wanted: Any
) -> AsyncIterator[SlackAdapter]:
    """Give one adapter whose socket is live, then cancel and close it."""
    async with running_all(slack, intake, clock, **wanted) as [adapter]:
        if wanted.get("mode") != "http":
            await slack.wait_for_sockets()
        yield adapter


async def until(condition: Callable[[], Any], timeout: float = 5.0) -> None:
    """Wait until ``condition()`` is true."""
    async with asyncio.timeout(timeout):
        while not condition():  # noqa: ASYNC110  (statuses and queues have no event to await)
            await asyncio.sleep(0.002)


def part(
    content: str | RichText,
    channel: str = DM,
    *,
    thread: str | None = None,
    key: str = "p_1",
    turn: str | None = None,
) -> Part:
    """Return a part for a place of the first team."""
    return Part(
        key,
        address(channel, thread),
        RichText(content) if isinstance(content, str) else content,
        turn=None if turn is None else TurnId(turn),
    )


def address(channel: str = DM, thread: str | None = None) -> Address:
    """Return the address of a place or thread."""
    where = None if thread is None else ThreadId(thread)
    return Address(SLACK, ACCOUNT, PlaceId(channel), where)


def pings(text: str) -> bool:
    """Return whether a posted text would notify or link anybody."""
    return "<@" in text or "<!" in text or "<#" in text
