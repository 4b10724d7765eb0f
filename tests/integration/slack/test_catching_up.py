"""What was said while nobody listened is answered once: after an outage and after a restart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.slack.manifest import SLACK
from gateway.model.errors import StoreBusyError
from gateway.model.ids import MessageId, TurnId
from gateway.ports import ConnectionState
from tests.emulators.slack import CHANNEL
from tests.integration.slack.support import (
    ACCOUNT,
    DM,
    HurriedClock,
    MemoryIntake,
    address,
    part,
    running,
    until,
)

if TYPE_CHECKING:
    from tests.emulators.slack import SlackEmulator

CURSOR = f"{SLACK}:{ACCOUNT}"


async def settled(intake: MemoryIntake) -> None:
    """Wait until the adapter has read back what there was."""
    await until(lambda: CURSOR in intake.cursors)


def deaf(slack: SlackEmulator) -> None:
    """Slack gives every delivery up at once: what is said now is lost to events."""
    slack.delivery.ack_seconds = 0.001
    slack.delivery.retry_seconds = ()


def hearing(slack: SlackEmulator) -> None:
    slack.delivery.ack_seconds = 0.3


async def test_a_new_bot_answers_nothing_old(slack: SlackEmulator, intake: MemoryIntake) -> None:
    deaf(slack)
    slack.say("before it came")
    await slack.wait_until_acked()
    async with running(slack, intake):
        await settled(intake)
    assert intake.events == []
    assert slack.calls_of("conversations.history") == []


async def test_a_restart_takes_in_what_was_missed(
    slack: SlackEmulator, intake: MemoryIntake
) -> None:
    """H-57."""
    async with running(slack, intake):
        await settled(intake)
        first = slack.mention("old thread")
        slack.say("heard")
        await slack.wait_until_acked()
    deaf(slack)
    missed = [slack.say("direct"), slack.mention("in a channel")]
    missed.append(slack.thread("in the old thread", first))
    missed.append(slack.say("direct again"))
    await slack.wait_until_acked()
    before = len(intake.events)
    async with running(slack, intake):
        await until(lambda: len(intake.events) == before + 4)
        await until(lambda: intake.cursors[CURSOR] == missed[-1])
    late = intake.events[before:]
    assert sorted(event.message for event in late) == missed
    threads = {event.text: event.place.thread for event in late}
    assert threads["in the old thread"] == first
    assert threads["in a channel"] == missed[1]
    assert next(event.mentions_bot for event in late if event.text == "in a channel")
    direct = [event.text for event in late if event.place.id == DM]
    assert direct == ["direct", "direct again"]


async def test_an_outage_is_read_back_too(slack: SlackEmulator, intake: MemoryIntake) -> None:
    async with running(slack, intake):
        await settled(intake)
        deaf(slack)
        slack.say("missed")
        await slack.wait_until_acked()
        hearing(slack)
        slack.sockets.abort()
        await until(lambda: intake.texts == ["missed"])
        slack.say("heard")
        await until(lambda: intake.texts == ["missed", "heard"])
    assert len({event.dedupe_key for event in intake.events}) == 2


async def test_our_own_answers_are_not_read_back(
    slack: SlackEmulator, intake: MemoryIntake
) -> None:
    async with running(slack, intake):
        await settled(intake)
    deaf(slack)
    slack.say("mine", user="U0BROOK001", bot_id="B0BROOK001", channel=DM)
    slack.say("yours")
    await slack.wait_until_acked()
    async with running(slack, intake):
        await until(lambda: intake.texts == ["yours"])


async def test_the_cursor_waits_for_what_was_missed(
    slack: SlackEmulator, intake: MemoryIntake
) -> None:
    """A live message must not hide an earlier one that is still being read back."""
    async with running(slack, intake):
        await settled(intake)
    deaf(slack)
    slack.say("missed")
    await slack.wait_until_acked()
    hearing(slack)
    stored = intake.cursors[CURSOR]
    slack.slow("users.conversations", 0.2)
    async with running(slack, intake):
        await until(lambda: slack.calls_of("users.conversations"))
        live = slack.say("live")
        await until(lambda: intake.texts == ["live"])
        assert intake.cursors[CURSOR] == stored
        await until(lambda: intake.cursors[CURSOR] == live)
    assert intake.texts == ["live", "missed"]


async def test_trouble_on_the_way_repeats_it(
    slack: SlackEmulator, intake: MemoryIntake, clock: HurriedClock
) -> None:
    async with running(slack, intake):
        await settled(intake)
    deaf(slack)
    slack.say("missed")
    slack.say("hi", channel="C0OTHER0001")
    await slack.wait_until_acked()
    slack.drop("users.conversations")
    slack.fail("conversations.history", "missing_scope", channel="C0OTHER0001")
    slack.rate_limit("conversations.history", 9, channel=DM)
    intake.refusals.append(StoreBusyError("busy"))
    async with running(slack, intake, clock):
        await until(lambda: "missed" in intake.texts)
    assert 9.0 in clock.slept


async def test_a_day_is_the_longest_way_back(slack: SlackEmulator, intake: MemoryIntake) -> None:
    async with running(slack, intake):
        await settled(intake)
    deaf(slack)
    slack.say("too old")
    await slack.wait_until_acked()
    clock = HurriedClock()
    clock.skipped = 25 * 3600.0
    async with running(slack, intake, clock):
        await until(lambda: slack.calls_of("conversations.history"))
        hearing(slack)
        live = slack.say("live")
        await until(lambda: intake.cursors[CURSOR] == live)
    assert intake.texts == ["live"]


async def test_a_channel_the_bot_has_left_is_left_out(
    slack: SlackEmulator, intake: MemoryIntake
) -> None:
    async with running(slack, intake):
        await settled(intake)
        slack.mention("hi")
        await slack.wait_until_acked()
    slack.remove_bot(CHANNEL)
    async with running(slack, intake):
        await until(lambda: slack.calls_of("users.conversations"))
    assert intake.texts == ["hi"]


async def test_a_missing_scope_costs_only_the_reading_back(
    slack: SlackEmulator, intake: MemoryIntake
) -> None:
    async with running(slack, intake):
        await settled(intake)
    slack.fail("users.conversations", "missing_scope", needed="channels:read")
    async with running(slack, intake):
        await until(lambda: slack.calls_of("users.conversations"))
        live = slack.say("live")
        await until(lambda: intake.cursors[CURSOR] == live)
    assert len(slack.calls_of("users.conversations")) == 1


async def test_a_preview_that_a_crash_left_behind_is_removed(
    slack: SlackEmulator, intake: MemoryIntake
) -> None:
    async with running(slack, intake) as adapter:
        await settled(intake)
        root = slack.mention("question")
        preview = adapter.preview(address(CHANNEL, root), TurnId("t_1"), MessageId(root))
        assert preview is not None
        preview.update("The ans")
        await slack.wait_for(1, channel=CHANNEL)
        await preview.close()
        await slack.wait_until_acked()
    async with running(slack, intake) as adapter:
        await until(lambda: slack.answers(CHANNEL) == [])
        await adapter.send(part("The answer", CHANNEL, thread=root, turn="t_1"))
    assert [message["text"] for message in slack.answers(CHANNEL)] == ["The answer"]


async def test_a_token_revoked_meanwhile_is_noticed(
    slack: SlackEmulator, intake: MemoryIntake
) -> None:
    async with running(slack, intake) as adapter:
        await settled(intake)
        slack.revoke()
        slack.sockets.abort()
        await until(lambda: adapter.status.state is ConnectionState.BAD_CREDENTIALS)
