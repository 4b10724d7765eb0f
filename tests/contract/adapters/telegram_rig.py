"""Telegram, by the emulator."""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from adapters.telegram import errors
from adapters.telegram.manifest import TELEGRAM
from adapters.telegram.parse import parse
from gateway.ports import ConnectionState
from gateway.text.units import utf16_length
from tests.contract.adapters.core import Core, rules_for
from tests.contract.adapters.rig import Shown, Trait, until
from tests.emulators.telegram import TelegramEmulator
from tests.integration.telegram.support import TOKEN, WatchingClock, address, running
from tests.unit.telegram.test_errors import LIBRARY
from tests.unit.telegram.updates import ME, recorded

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from typing import Any

    from adapters.telegram.adapter import TelegramAdapter
    from gateway.model.events import InboundEvent

PERSON, GROUP, OTHER_BOT = 42, -4455667, 999


class TelegramRig:
    """Long polling; nothing of ours comes back, and nobody tells who was notified."""

    traits = frozenset(Trait)
    limit = 4096

    def __init__(self, tg: TelegramEmulator) -> None:
        self.core = Core(rules_for(TELEGRAM, str(PERSON), str(GROUP)))
        self.address = address(PERSON)
        self._tg = tg
        self._stack = AsyncExitStack()

    @property
    def adapter(self) -> TelegramAdapter:
        return self._adapter

    async def up(self) -> None:
        self._adapter = await self._stack.enter_async_context(
            running(self._tg, self.core, WatchingClock())
        )
        self.core.adapter = self._adapter
        await until(lambda: self._adapter.status.state is ConnectionState.CONNECTED)

    async def down(self) -> None:
        await self._stack.aclose()

    async def say(self, text: str, *, group: bool = False) -> str:
        return str(self._tg.say(text, user=PERSON, chat=GROUP if group else PERSON))

    async def bot_says(self, text: str) -> None:
        self._tg.user(OTHER_BOT, is_bot=True)
        self._tg.say(f"@gate_bot {text}", user=OTHER_BOT, chat=GROUP)

    async def edit(self, message: str, text: str) -> None:
        self._tg.edit(int(message), text, chat=PERSON)

    async def duplicate(self) -> None:
        self._tg.duplicate()

    def lose(self, *, file: bool = False) -> None:
        self._tg.lose("sendDocument" if file else "sendMessage")

    def refuse_file(self, *, large: bool) -> None:
        if large:
            self._tg.fail("sendDocument", 413, "Request Entity Too Large")
        else:
            self._tg.fail("sendDocument", 400, "not enough rights to send documents to the chat")

    def files(self) -> list[tuple[str, bytes]]:
        return self._tg.sent_files(PERSON)

    def click(self, label: str) -> None:
        self._tg.click(label, user=PERSON, chat=PERSON)

    async def heard_clicks(self) -> int:
        await until(lambda: len(self._tg.calls_of("answerCallbackQuery")) >= 1)
        return len(self._tg.calls_of("answerCallbackQuery"))

    def remove(self) -> None:
        self._tg.delete(PERSON, self._tg.answers(PERSON)[-1]["message_id"])

    def messages(self) -> list[Shown]:
        answers = [each for chat in (PERSON, GROUP) for each in self._tg.answers(chat)]
        return [_shown(each) for each in answers if "text" in each]

    def recorded(self) -> list[InboundEvent]:
        return [parse(update, me=ME) for update in recorded().values()]

    def untranslated(self) -> set[type[Exception]]:
        return {kind for kind in LIBRARY if kind not in errors.TABLE}


def _shown(message: dict[str, Any]) -> Shown:
    text, entities = message["text"], message.get("entities", ())
    raw = text.encode("utf-16-le")
    code = [
        raw[2 * each["offset"] : 2 * (each["offset"] + each["length"])].decode("utf-16-le")
        for each in entities
        if each["type"] == "pre"
    ]
    links = [each.get("url", "") for each in entities]
    pings = any(each["type"] == "text_mention" for each in entities) or any(
        link.startswith("tg:") for link in links
    )
    rows = message.get("reply_markup", {}).get("inline_keyboard", ())
    buttons = tuple(button["text"] for row in rows for button in row)
    return Shown(text, "\n".join(code), utf16_length(text), pings, buttons)


@asynccontextmanager
async def telegram() -> AsyncIterator[TelegramRig]:
    """Give a Telegram with one bot."""
    async with TelegramEmulator() as emulator:
        emulator.bot(TOKEN)
        yield TelegramRig(emulator)
