"""Fetching files from the emulated Discord."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import pytest

from gateway.model.errors import Disposition, PlatformError, RateLimitedError
from gateway.model.events import Attachment, AttachmentKind
from tests.emulators.discord import CHANNEL
from tests.integration.discord.support import MemoryIntake, opened, running, until

if TYPE_CHECKING:
    from adapters.discord.adapter import DiscordAdapter
    from tests.emulators.discord import DiscordEmulator


async def content(adapter: DiscordAdapter, attachment: Attachment) -> bytes:
    async with aclosing(adapter.download(attachment)) as pieces:
        return b"".join([piece async for piece in pieces])


async def received(dc: DiscordEmulator, intake: MemoryIntake, **said: Any) -> list[Attachment]:
    """Say something in a channel and return the files that came of it."""
    async with running(dc, intake):
        await dc.connected()
        dc.say("look", channel=CHANNEL, **said)
        await until(lambda: intake.events)
    return list(intake.events[-1].attachments)


async def test_files_are_fetched_though_their_addresses_have_expired(
    dc: DiscordEmulator, intake: MemoryIntake
) -> None:
    """An album is one message: its addresses are asked for once, and no token goes along."""
    files = [dc.file(f"{n}.txt", f"text {n}".encode()) for n in range(3)]
    attachments = await received(dc, intake, attachments=files)
    dc.expire_files()
    async with opened(dc) as adapter:
        got = [await content(adapter, each) for each in attachments]
    assert got == [b"text 0", b"text 1", b"text 2"]
    assert len(dc.calls_of("message")) == 1
    assert [call.token for call in dc.calls_of("download")] == ["", "", ""]


async def test_files_of_a_forwarded_message_are_fetched(
    dc: DiscordEmulator, intake: MemoryIntake
) -> None:
    message = dc.say("see", channel=CHANNEL, attachments=[dc.file("a.txt", b"text")])
    async with running(dc, intake):
        await dc.connected()
        dc.forward(message, channel=CHANNEL)
        await until(lambda: intake.events)
    dc.expire_files()
    async with opened(dc) as adapter:
        assert await content(adapter, intake.events[-1].attachments[0]) == b"text"


@pytest.mark.parametrize("gone", ["message", "file"])
async def test_what_is_not_there_any_more_is_gone(dc: DiscordEmulator, gone: str) -> None:
    message = dc.say("see", channel=CHANNEL)
    source = f"{CHANNEL}/{message}" if gone == "file" else f"{CHANNEL}/1"
    async with opened(dc) as adapter:
        with pytest.raises(PlatformError) as caught:
            await content(adapter, Attachment(AttachmentKind.IMAGE, f"{source}/7"))
    assert (caught.value.code, caught.value.disposition) == ("gone", Disposition.GIVE_UP)


async def test_a_limit_is_told(dc: DiscordEmulator) -> None:
    message = dc.say("see", channel=CHANNEL)
    dc.limit("message", 3.0)
    async with opened(dc) as adapter:
        with pytest.raises(RateLimitedError) as caught:
            await content(adapter, Attachment(AttachmentKind.IMAGE, f"{CHANNEL}/{message}/7"))
    assert caught.value.retry_after == pytest.approx(3, abs=0.5)
