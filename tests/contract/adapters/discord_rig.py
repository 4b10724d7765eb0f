"""Discord, by the emulator."""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from adapters.discord import errors
from adapters.discord.manifest import DISCORD
from adapters.discord.parse import parse
from tests.contract.adapters.core import Core, rules_for
from tests.contract.adapters.rig import Shown, Trait, fenced, until
from tests.emulators.discord import CHANNEL, DiscordEmulator
from tests.emulators.discord.world import USER
from tests.integration.discord.support import BOT, WatchingClock, address, running
from tests.unit.discord.events import around, recorded
from tests.unit.discord.test_errors import LIBRARY

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from typing import Any

    from adapters.discord.adapter import DiscordAdapter
    from gateway.model.events import InboundEvent


class DiscordRig:
    """A session over the gateway; what we post comes back to us."""

    traits = frozenset(Trait)
    limit = 2000

    def __init__(self, dc: DiscordEmulator) -> None:
        self.core = Core(rules_for(DISCORD, USER, CHANNEL))
        self.address = address(dc.dm())
        self._dc = dc
        self._stack = AsyncExitStack()
        self._clicks: list[str] = []

    @property
    def adapter(self) -> DiscordAdapter:
        return self._adapter

    async def up(self) -> None:
        self._adapter = await self._stack.enter_async_context(
            running(self._dc, self.core, WatchingClock())
        )
        self.core.adapter = self._adapter

    async def down(self) -> None:
        await self._stack.aclose()

    async def say(self, text: str, *, group: bool = False) -> str:
        return self._dc.say(text, channel=CHANNEL if group else None)

    async def bot_says(self, text: str) -> None:
        self._dc.bot_say(f"<@{BOT}> {text}")

    async def edit(self, message: str, text: str) -> None:
        self._dc.edit(message, text)

    async def duplicate(self) -> None:
        self._dc.duplicate()

    def lose(self, *, file: bool = False) -> None:
        self._dc.lose("send")

    def click(self, label: str) -> None:
        self._clicks.append(self._dc.click(label))

    async def heard_clicks(self) -> int:
        held = [self._dc.interaction(each) for each in self._clicks]
        await until(lambda: all(each.answer for each in held))
        return sum(each.answer == {"type": 6} for each in held)

    def remove(self) -> None:
        self._dc.delete(self._dc.answers()[-1]["id"])

    def refuse_file(self, *, large: bool) -> None:
        if large:
            self._dc.fail("send", 413, code=40005, message="Request entity too large")
        else:
            self._dc.fail("send", 403, code=50013, message="Missing Permissions")

    def files(self) -> list[tuple[str, bytes]]:
        return self._dc.sent_files()

    def messages(self) -> list[Shown]:
        return [_shown(each) for where in (None, CHANNEL) for each in self._dc.answers(where)]

    def recorded(self) -> list[InboundEvent]:
        return [event for each in recorded().values() if (event := _parsed(each))]

    def untranslated(self) -> set[type[Exception]]:
        return {kind for kind in LIBRARY if kind not in errors.TABLE}


def _parsed(dispatch: dict[str, Any]) -> InboundEvent | None:
    channel = dispatch["d"].get("channel_id") if isinstance(dispatch["d"], dict) else None
    return parse(dispatch["t"], dispatch["d"], around(channel))


def _shown(message: dict[str, Any]) -> Shown:
    text = message["content"]
    pings = bool(message["mentions"] or message["mention_roles"] or message["mention_everyone"])
    buttons = [each["label"] for row in message["components"] for each in row["components"]]
    return Shown(text, fenced(text), len(text), pings, tuple(buttons))


@asynccontextmanager
async def discord() -> AsyncIterator[DiscordRig]:
    """Give a Discord with one bot and one channel."""
    async with DiscordEmulator() as emulator:
        emulator.bot()
        emulator.channel()
        yield DiscordRig(emulator)
