"""Previews: seen while an answer grows, gone when it is there, harmless after a crash."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

import pytest

from adapters.discord.preview import MARK, PAUSE, excerpt
from gateway.model.ids import MessageId, TurnId
from gateway.model.outbound import RichText
from tests.emulators.discord import CHANNEL
from tests.integration.discord.support import (
    MemoryIntake,
    WatchingClock,
    address,
    opened,
    part,
    running,
    until,
)

if TYPE_CHECKING:
    from adapters.discord.adapter import DiscordAdapter
    from gateway.ports import Preview
    from tests.emulators.discord import DiscordEmulator

SILENT = 1 << 12


def begin(adapter: DiscordAdapter, question: str, channel: str = CHANNEL) -> Preview:
    preview = adapter.preview(address(channel), TurnId("t_1"), MessageId(question))
    assert preview is not None
    return preview


def texts(dc: DiscordEmulator, channel: str = CHANNEL) -> list[str]:
    return [message["content"] for message in dc.answers(channel)]


async def test_a_preview_grows_and_gives_way_to_the_answer(dc: DiscordEmulator) -> None:
    question = dc.say("deploy?", channel=CHANNEL)
    clock = WatchingClock()
    async with opened(dc, clock) as adapter:
        preview = begin(adapter, question)
        preview.update("I think")
        [shown] = await dc.wait_for(1, channel=CHANNEL)
        assert (shown["content"], shown["flags"] & SILENT) == (f"I think{MARK}", SILENT)
        assert shown["message_reference"]["message_id"] == question
        preview.update("I think **yes**, @everyone")
        await dc.wait_for_calls("edit")
        assert texts(dc) == [f"I think **yes**, @everyone{MARK}"]
        await preview.close()
        calls = len(dc.calls)
        preview.update("too late")
        await asyncio.sleep(0.05)
        assert len(dc.calls) == calls
        await adapter.send(part("I think yes", reply_to=question))
    [answer] = dc.answers(CHANNEL)
    assert (answer["content"], answer["flags"] & SILENT) == ("I think yes", 0)
    assert all(call.body["allowed_mentions"] == {"parse": []} for call in dc.calls_of("edit"))
    assert min(clock.slept) > 0
    assert sum(clock.slept) >= 2 * PAUSE - 0.1


async def test_a_quick_answer_needs_no_preview(dc: DiscordEmulator) -> None:
    question = dc.say("deploy?", channel=CHANNEL)

    class Standing(WatchingClock):
        async def sleep(self, seconds: float) -> None:
            await asyncio.sleep(3600)

    async with opened(dc, Standing()) as adapter:
        preview = begin(adapter, question)
        preview.update("yes")
        await asyncio.sleep(0)
        await preview.close()
    assert dc.calls == []


async def test_one_channel_has_one_pace(dc: DiscordEmulator) -> None:
    clock = WatchingClock()
    async with opened(dc, clock) as adapter:
        first, second = begin(adapter, dc.say("1", channel=CHANNEL)), begin(adapter, "5")
        first.update("one")
        second.update("two")
        await dc.wait_for_calls("send", 1)
        await first.close()
        await second.close()
    assert sum(clock.slept) >= PAUSE


def showing(dc: DiscordEmulator, words: str) -> bool:
    return texts(dc) == [f"{words}{MARK}"]


async def test_a_429_is_waited_out_and_the_answer_comes(dc: DiscordEmulator) -> None:
    """The third edit is refused: none before the deadline, other chats unaffected."""
    other = dc.channel("902")
    question = dc.say("deploy?", channel=CHANNEL)
    clock = WatchingClock()
    async with opened(dc, clock) as adapter:
        preview = begin(adapter, question)
        for number in range(3):
            preview.update(f"words {number}")
            await until(partial(showing, dc, f"words {number}"))
        dc.limit("edit", 20.0)
        preview.update("refused")
        await dc.wait_for_calls("edit", 3)
        refused_at = clock.elapsed
        await until(lambda: texts(dc) == [f"refused{MARK}"])
        assert clock.elapsed - refused_at >= 20.0 - PAUSE
        aside = begin(adapter, "5", other)
        aside.update("elsewhere")
        await dc.wait_for(1, channel=other)
        await aside.close()
        await preview.close()
        await adapter.send(part("final", reply_to=question))
    assert texts(dc) == ["final"]


async def test_trouble_ends_a_preview_and_no_answer(dc: DiscordEmulator) -> None:
    question = dc.say("deploy?", channel=CHANNEL)
    dc.fail("send", 403, code=50013)
    async with opened(dc, WatchingClock()) as adapter:
        preview = begin(adapter, question)
        preview.update("one")
        await dc.wait_for_calls("send")
        preview.update("two")
        await asyncio.sleep(0.05)
        await preview.close()
        await adapter.send(part("final", reply_to=question))
    assert texts(dc) == ["final"]
    assert len(dc.calls_of("send")) == 2


async def test_a_lost_preview_is_found_again(dc: DiscordEmulator) -> None:
    question = dc.say("deploy?", channel=CHANNEL)
    dc.lose("send")
    async with opened(dc, WatchingClock()) as adapter:
        preview = begin(adapter, question)
        preview.update("one")
        await dc.wait_for_calls("send")
        preview.update("two")
        await dc.wait_for_calls("send", 2)
        await preview.close()
        await adapter.send(part("final", reply_to=question))
    assert texts(dc) == ["final"]


async def test_the_answer_waits_for_a_call_under_way(dc: DiscordEmulator) -> None:
    """Closed while the preview is being posted: its message is known, and removed."""
    question = dc.say("deploy?", channel=CHANNEL)
    dc.slow("send", 0.1)
    async with opened(dc, WatchingClock()) as adapter:
        preview = begin(adapter, question)
        preview.update("one")
        await dc.wait_for_calls("send")
        await preview.close()
        await adapter.send(part("final", reply_to=question))
    assert texts(dc) == ["final"]


async def test_a_preview_left_by_a_crash_is_removed(
    dc: DiscordEmulator, intake: MemoryIntake
) -> None:
    """What looks like one, but rings or is somebody else's, stays."""
    async with running(dc, intake, WatchingClock()) as adapter:
        question = dc.say("<@111> deploy?", channel=CHANNEL)
        await until(lambda: intake.events)
        await adapter.send(part(RichText(f"a real answer{MARK}")))
        begin(adapter, question).update("half an ans")
        await dc.wait_for(2, channel=CHANNEL)
    dc.say(f"typed by hand{MARK}", channel=CHANNEL, flags=SILENT)
    async with running(dc, intake, WatchingClock()):
        await dc.wait_for_calls("delete")
        await until(lambda: len(dc.answers(CHANNEL)) == 1)
    assert texts(dc) == [f"a real answer{MARK}"]
    assert len(dc.messages(CHANNEL)) == 3


async def test_a_preview_that_cannot_be_removed_stops_no_answer(dc: DiscordEmulator) -> None:
    question = dc.say("deploy?", channel=CHANNEL)
    dc.fail("delete", 403, code=50013)
    async with opened(dc, WatchingClock()) as adapter:
        preview = begin(adapter, question)
        preview.update("one")
        await dc.wait_for(1, channel=CHANNEL)
        await preview.close()
        receipt = await adapter.send(part("final", reply_to=question))
    assert dc.answers(CHANNEL)[-1]["id"] == receipt.message


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("", ""),
        (" \n", ""),
        ("**bo", r"\*\*bo" + MARK),
        ("```py\nx = 1", "```py\nx = 1\n```" + MARK),
    ],
)
def test_unfinished_words(markdown: str, shown: str) -> None:
    assert excerpt(markdown) == shown


def test_the_end_of_a_long_answer_is_shown() -> None:
    found = excerpt("word_ " * 2000 + "last")
    assert found.endswith(f"last{MARK}")
    assert len(found) <= 2000
