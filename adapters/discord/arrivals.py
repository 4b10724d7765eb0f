"""Events in their order: each is durable before the next one is looked at."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TypeVar

import structlog

from adapters.discord.catchup import CatchUp
from adapters.discord.cursors import Cursors
from adapters.discord.directory import Directory, read_channel
from adapters.discord.fields import Fields
from adapters.discord.reading import Reader, channel_of
from gateway.model.errors import Disposition, PlatformError, StoreError
from gateway.model.events import EventKind, PlaceKind
from gateway.policy.retry import Backoff
from gateway.text.fields import ParseError

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable, Coroutine, Sequence

    from adapters.discord.client import Client
    from adapters.discord.directory import Channel
    from adapters.discord.preview import Previews
    from adapters.discord.socket import Event
    from gateway.model.ids import AccountId
    from gateway.ports import Clock, Intake, Received

log: structlog.stdlib.BoundLogger = structlog.get_logger()

T = TypeVar("T")

STORE_BACKOFF = Backoff(first=0.5, factor=2.0, ceiling=10.0, jitter=0.0, attempts=sys.maxsize)
_MESSAGES = frozenset({"MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_DELETE", "INTERACTION_CREATE"})


class Arrivals:
    """Takes the events of one run of one account. ``tasks`` ends with the run."""

    def __init__(
        self,
        client: Client,
        account: AccountId,
        intake: Intake,
        clock: Clock,
        *,
        previews: Previews,
        commands: Sequence[tuple[str, str]],
        tasks: asyncio.TaskGroup,
    ) -> None:
        self._client = client
        self._clock = clock
        self._tasks = tasks
        self._directory = Directory(account)
        self._reader = Reader(self._directory)
        self._cursors = Cursors(account, intake)
        self._commands = commands
        self._menu_shown = False
        self._asked: set[str] = set()
        self._catch_up = CatchUp(
            client, self._cursors, self._reader, previews, clock, hand_in=self._message
        )

    async def take(self, event: Event) -> None:
        """Store what an event says; return when that is durable. Never raises.

        A store that refuses is asked again for ever: the socket waits meanwhile.
        """
        kind, data = event
        if kind in _MESSAGES:
            channel = channel_of(data)
            held = kind == "MESSAGE_CREATE" and channel and self._catch_up.hold(channel, event)
            if not held:
                await self._message(event)
        elif kind == "READY":
            self._show_menu()
            await self._read_directs()
        else:
            await self._learn(kind, data)

    # --- messages ------------------------------------------------------------------------

    async def _message(self, event: Event) -> None:
        kind, data = event
        channel = channel_of(data)
        await self._look_up(channel, data)
        received = self._reader.read(kind, data)
        if received is None:
            return
        await self._insisting(lambda: self._store(kind, channel, received))
        match data:
            case {"id": str(number), "token": str(token)} if kind == "INTERACTION_CREATE":
                self._spawn(self._acknowledge(number, token, received))

    async def _store(self, kind: str, channel: str | None, received: Received) -> None:
        event = received.event
        if event is None or kind != "MESSAGE_CREATE" or channel is None:
            await self._cursors.accept_beside(received)
            return
        if event.place.kind is PlaceKind.DIRECT:
            await self._cursors.remember_direct(channel, event.message)
        await self._cursors.accept(channel, [received], event.message)

    async def _look_up(self, channel: str | None, data: object) -> None:
        """Ask once for a guild's channel that nobody told about: it may be a thread."""
        guild = isinstance(data, dict) and "guild_id" in data
        if channel is None or not guild or channel in self._asked:
            return
        if self._directory.find(channel) is not None:
            return
        try:
            found = read_channel(Fields.of(await self._client.channel(channel), "channel"))
            self._directory.add([found])
        except PlatformError as error:
            if error.disposition is Disposition.GIVE_UP:
                self._asked.add(channel)
            log.info("discord.unknown_channel", action="receive", place=channel, why=error.code)

    async def _acknowledge(self, number: str, token: str, received: Received) -> None:
        pressed = received.event is not None and received.event.kind is EventKind.PRESS
        try:
            if pressed:
                await self._client.hear(number, token)
            else:
                await self._client.acknowledge(number, token)
        except PlatformError as error:
            log.info("discord.unacknowledged", action="receive", why=error.code)

    # --- what the gateway tells about itself ------------------------------------------------

    def _show_menu(self) -> None:
        if not self._menu_shown:
            self._menu_shown = True
            self._spawn(self._set_commands())

    async def _set_commands(self) -> None:
        try:
            await self._client.set_commands(self._commands)
        except PlatformError as error:
            log.warning("discord.no_command_menu", action="connect", why=str(error))

    async def _read_directs(self) -> None:
        """Direct channels are read after every new session: nothing tells what came there."""
        directs = await self._insisting(self._cursors.directs)
        for channel, after in directs.items():
            self._begin(channel, after, None)

    async def _learn(self, kind: str, data: object) -> None:
        try:
            channels = self._directory.learn(kind, data)
        except ParseError as fault:
            log.warning("discord.unreadable", action="receive", kind=kind, fault=str(fault))
            return
        if kind == "GUILD_CREATE":
            await self._insisting(lambda: self._read_guild(channels))

    async def _read_guild(self, channels: Sequence[Channel]) -> None:
        """Read the channels in which more was said than is stored."""
        for channel in channels:
            after = await self._stored(channel)
            newest = channel.last_message
            if after is not None and newest is not None and int(newest) > int(after):
                self._begin(channel.id, after, channel.guild)

    async def _stored(self, channel: Channel) -> str | None:
        """A thread that was opened after its channel was last read is new from its beginning."""
        stored = await self._cursors.stored(channel.id)
        if stored is not None or channel.parent is None:
            return stored
        parent = await self._cursors.stored(channel.parent)
        return channel.id if parent is not None and int(channel.id) > int(parent) else None

    def _begin(self, channel: str, after: str, guild: str | None) -> None:
        if self._catch_up.claim(channel):
            self._spawn(self._catch_up.read(channel, after, guild))

    # --- inside -----------------------------------------------------------------------------

    async def _insisting(self, work: Callable[[], Awaitable[T]]) -> T:
        attempt = 0
        while True:
            try:
                return await work()
            except StoreError as error:
                attempt += 1
                log.warning("discord.store_refuses", action="receive", why=str(error))
                delay = STORE_BACKOFF.delay(attempt, retry_after=error.retry_after, roll=0.0)
                await self._clock.sleep(STORE_BACKOFF.ceiling if delay is None else delay)

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        self._tasks.create_task(work)
