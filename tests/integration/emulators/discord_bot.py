"""An unmodified discord.py client, pointed at the emulator the way its users would do it."""

from __future__ import annotations

import asyncio
import warnings
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any
from unittest import mock

import yarl

with warnings.catch_warnings():
    # discord.py imports audioop for voice, which nobody here uses
    warnings.simplefilter("ignore", DeprecationWarning)
    import discord
    from discord.gateway import DiscordWebSocket
    from discord.http import Route

from tests.emulators.discord import TOKEN

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.emulators.discord import DiscordEmulator

__all__ = ["Bot", "connected", "discord"]


class Bot(discord.Client):
    """Notes what it is told; connects without the library's waits."""

    def __init__(self) -> None:
        intents = discord.Intents.default()
        intents.message_content = True
        super().__init__(
            intents=intents,
            guild_ready_timeout=0.05,
            heartbeat_timeout=2,
            allowed_mentions=discord.AllowedMentions.none(),
        )
        self.said: list[discord.Message] = []
        self.edits: list[discord.RawMessageUpdateEvent] = []
        self.events: list[str] = []
        self.interactions: list[discord.Interaction[Any]] = []
        self.ready = asyncio.Event()

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """Do not wait five seconds."""

    async def on_ready(self) -> None:
        self.events.append("ready")
        self.ready.set()

    async def on_resumed(self) -> None:
        self.events.append("resumed")

    async def on_message(self, message: discord.Message) -> None:
        self.said.append(message)

    async def on_raw_message_edit(self, event: discord.RawMessageUpdateEvent) -> None:
        self.edits.append(event)

    async def on_interaction(self, interaction: discord.Interaction[Any]) -> None:
        self.interactions.append(interaction)

    async def heard(self, count: int) -> list[str]:
        """Wait for so many messages of others and return their texts."""
        async with asyncio.timeout(5):
            while len(self.texts) < count:  # noqa: ASYNC110  (the library has no event for it)
                await asyncio.sleep(0.002)
        return self.texts

    async def told(self, events: list[str]) -> None:
        """Wait until exactly these events came."""
        async with asyncio.timeout(5):
            while self.events != events:  # noqa: ASYNC110  (the library has no event for it)
                await asyncio.sleep(0.002)

    @property
    def texts(self) -> list[str]:
        """What others said, oldest first."""
        return [one.content for one in self.said if one.author != self.user]


@asynccontextmanager
async def connected(emulator: DiscordEmulator, token: str = TOKEN) -> AsyncIterator[Bot]:
    """Give a client that is ready, and close it."""
    with (
        mock.patch.object(Route, "BASE", emulator.api_base),
        mock.patch.object(DiscordWebSocket, "DEFAULT_GATEWAY", yarl.URL(emulator.gateway_url)),
    ):
        bot = Bot()
        running = asyncio.create_task(bot.start(token))
        waiting = asyncio.create_task(bot.ready.wait())
        try:
            await asyncio.wait({running, waiting}, return_when=asyncio.FIRST_COMPLETED)
            if running.done():
                await running
            yield bot
        finally:
            waiting.cancel()
            await bot.close()
            running.cancel()
            with suppress(asyncio.CancelledError, discord.DiscordException):
                await running
