"""Slack, by the emulator."""

from __future__ import annotations

import html
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from adapters.slack import errors
from adapters.slack.manifest import SLACK
from adapters.slack.parse import parse
from tests.contract.adapters.core import Core, rules_for
from tests.contract.adapters.rig import Shown, Trait, fenced
from tests.emulators.slack import CHANNEL, SlackEmulator
from tests.emulators.slack.world import TEAM, USER
from tests.integration.slack.support import HurriedClock, address, pings, running
from tests.unit.slack.samples import VIEW, recorded
from tests.unit.slack.test_errors import LIBRARY

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from typing import Any

    from adapters.slack.adapter import SlackAdapter
    from gateway.model.events import InboundEvent

DIRECT = f"D{USER[1:]}"


class SlackRig:
    """Socket Mode; what we post comes back to us."""

    traits = frozenset(Trait)
    #: bytes; what is longer cannot be edited any more
    limit = 4000

    def __init__(self, slack: SlackEmulator) -> None:
        self.core = Core(rules_for(SLACK, f"{TEAM}:{USER}", CHANNEL))
        self.address = address(DIRECT)
        self._slack = slack
        self._stack = AsyncExitStack()
        self._last = ("", "")

    @property
    def adapter(self) -> SlackAdapter:
        return self._adapter

    async def up(self) -> None:
        self._adapter = await self._stack.enter_async_context(
            running(self._slack, self.core, HurriedClock())
        )
        self.core.adapter = self._adapter

    async def down(self) -> None:
        await self._stack.aclose()

    async def say(self, text: str, *, group: bool = False) -> str:
        where = CHANNEL if group else DIRECT
        said = self._slack.say(html.escape(text, quote=False), channel=where)
        self._last = said, text
        return said

    async def bot_says(self, text: str) -> None:
        self._slack.bot_say(f"<@U0BROOK001> {text}")

    async def edit(self, message: str, text: str) -> None:
        self._slack.edit(DIRECT, message, text)

    async def duplicate(self) -> None:
        said, text = self._last
        self._slack.say(text, channel=DIRECT, ts=said)

    def lose(self, *, file: bool = False) -> None:
        self._slack.lose("files.completeUploadExternal" if file else "chat.postMessage")

    def refuse_file(self, *, large: bool) -> None:
        code = "file_upload_size_restricted" if large else "file_uploads_disabled"
        self._slack.fail("files.getUploadURLExternal", code)

    def files(self) -> list[tuple[str, bytes]]:
        return self._slack.sent_files(DIRECT)

    def click(self, label: str) -> None:
        self._slack.click(label)

    async def heard_clicks(self) -> int:
        await self._slack.wait_until_acked()
        tries = self._slack.delivery.attempts
        return sum(each.kind == "interactive" and bool(each.acked) for each in tries)

    def remove(self) -> None:
        self._slack.delete(DIRECT, self._slack.answers(DIRECT)[-1]["ts"])

    def messages(self) -> list[Shown]:
        return [_shown(each) for where in (DIRECT, CHANNEL) for each in self._slack.answers(where)]

    def recorded(self) -> list[InboundEvent]:
        found = [parse(each, VIEW) for each in recorded().values() if "event" in each]
        return [event for event in found if event is not None]

    def untranslated(self) -> set[type[Exception]]:
        return {kind for kind in LIBRARY if kind not in errors.TABLE}


def _shown(message: dict[str, Any]) -> Shown:
    """Slack shows blocks in place of the text where there are some."""
    text, blocks = message["text"], message.get("blocks", ())
    if blocks:
        text = "".join(each["text"]["text"] for each in blocks if each["type"] == "section")
    buttons = [each["text"]["text"] for block in blocks for each in block.get("elements", ())]
    plain = html.unescape(text)
    return Shown(plain, fenced(text), len(text.encode()), pings(text), tuple(buttons))


@asynccontextmanager
async def slack() -> AsyncIterator[SlackRig]:
    """Give a Slack with one team."""
    async with SlackEmulator() as emulator:
        emulator.bot()
        emulator.delivery.ack_seconds = 0.3
        emulator.delivery.retry_seconds = (0.0, 0.05, 0.1)
        yield SlackRig(emulator)
