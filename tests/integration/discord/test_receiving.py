"""Receiving: nothing is lost or doubled over outages, restarts and odd events."""

from __future__ import annotations

import asyncio
import functools
import json
from typing import TYPE_CHECKING

import pytest

from gateway.model.errors import StoreBusyError
from gateway.model.events import Command, EventKind, PlaceKind, SenderKind
from gateway.ports import ConnectionState
from tests.emulators.discord import CHANNEL, GUILD, TOKEN
from tests.integration.discord.support import (
    OTHER_TOKEN,
    MemoryIntake,
    WatchingClock,
    build,
    part,
    running,
    until,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.emulators.discord import DiscordEmulator


async def test_messages_arrive_in_order(dc: DiscordEmulator, intake: MemoryIntake) -> None:
    async with running(dc, intake) as adapter:
        for number in range(50):
            dc.say(f"{number}", channel=CHANNEL if number % 2 else None)
        last = dc.say("<@111> last", channel=CHANNEL)
        await until(lambda: len(intake.texts) == 51)
        states = [adapter.status.state]
    states.append(adapter.status.state)
    assert intake.texts == [*map(str, range(50)), "last"]
    assert intake.events[-1].mentions_bot
    assert intake.read_to(CHANNEL) == last
    assert states == [ConnectionState.CONNECTED, ConnectionState.STOPPED]


async def test_the_bots_role_is_its_name(dc: DiscordEmulator, intake: MemoryIntake) -> None:
    role = dc.role("777", bot=True)
    async with running(dc, intake):
        dc.say(f"<@&{role}> hello", channel=CHANNEL)
        await until(lambda: intake.events)
    assert (intake.events[0].text, intake.events[0].mentions_bot) == ("hello", True)


async def test_threads_know_their_channel(dc: DiscordEmulator, intake: MemoryIntake) -> None:
    """H-26: those that are there, those that come, and those that nobody told about."""
    old = dc.thread("old")
    hidden = dc.thread("hidden")
    dc.hide(hidden)
    async with running(dc, intake):
        dc.say("in old", channel=old)
        dc.say("in new", channel=dc.thread("new"))
        dc.say("in hidden", channel=hidden)
        dc.say("again", channel=hidden)
        await until(lambda: len(intake.events) == 4)
    assert [event.place.parent for event in intake.events] == [CHANNEL, CHANNEL, None, None]
    assert len(dc.calls_of("channel")) == 1


async def test_a_thread_that_was_not_told_is_asked_for(
    dc: DiscordEmulator, intake: MemoryIntake
) -> None:
    async with running(dc, intake):
        thread = dc.thread()
        dc.hide(thread)
        dc.cut()  # whatever the gateway told is told once
        await dc.connected()
    dc.hide(thread)
    intake.cursors.clear()
    async with running(dc, intake):
        dc._world.channels[thread].hidden = False
        dc.say("hello", channel=thread)
        await until(lambda: intake.texts == ["hello"])
    assert intake.events[0].place.parent == CHANNEL
    assert len(dc.calls_of("channel")) == 1


async def test_who_may_never_start_a_turn_is_told_apart(
    dc: DiscordEmulator, intake: MemoryIntake
) -> None:
    """H-11, H-18, H-43: own messages and previews are nothing, the rest says what it is."""
    async with running(dc, intake) as adapter:
        question = dc.say("see https://example.org", channel=CHANNEL)
        dc.unfurl(question, channel=CHANNEL)
        dc.bot_say("<@111> done?")
        dc.webhook("ci is green")
        dc.say("joined", channel=CHANNEL, type=7)
        dc.edit(question, "see https://example.org now", channel=CHANNEL)
        dc.unfurl(question, channel=CHANNEL)
        dc.delete(question, channel=CHANNEL)
        await adapter.send(part("own words"))
        dc.say("end", channel=CHANNEL)
        await until(lambda: intake.texts[-1:] == ["end"])
    assert [(event.kind, event.sender.kind) for event in intake.events] == [
        (EventKind.MESSAGE, SenderKind.PERSON),
        (EventKind.MESSAGE, SenderKind.BOT),
        (EventKind.MESSAGE, SenderKind.WEBHOOK),
        (EventKind.SERVICE, SenderKind.PERSON),
        (EventKind.EDIT, SenderKind.PERSON),
        (EventKind.SERVICE, SenderKind.UNKNOWN),
        (EventKind.MESSAGE, SenderKind.PERSON),
    ]
    assert intake.events[4].message == intake.events[0].message


async def test_a_poison_event_is_set_aside_and_blocks_nobody(
    dc: DiscordEmulator, intake: MemoryIntake
) -> None:
    async with running(dc, intake):
        dc.dispatch("MESSAGE_CREATE", {"id": "x", "content": "private"})
        dc.dispatch("MESSAGE_CREATE", ["private"])
        dc.dispatch("GUILD_CREATE", {"id": None, "channels": 7})
        dc.dispatch("NEWS_OF_2030", {"any": "thing"})
        dc.say("after")
        await until(lambda: intake.texts == ["after"], timeout=2)
    aside = [each for each in intake.received if each.event is None]
    assert [json.loads(each.raw)["t"] for each in aside] == ["MESSAGE_CREATE"] * 2
    assert not any("private" in each.fault for each in aside)
    assert len(dc.gateway.identifies) == 1


@pytest.mark.parametrize("frame", ["{", "[]", '{"op": 0, "t": "READY", "s": 9, "d": {}}', "7"])
async def test_a_frame_that_is_none_costs_a_session_and_no_message(
    dc: DiscordEmulator, intake: MemoryIntake, frame: str
) -> None:
    async with running(dc, intake):
        dc.say("before")
        await until(lambda: intake.texts == ["before"])
        dc.frame(frame)
        dc.say("meanwhile")
        await until(lambda: len(intake.texts) == 2)
        dc.say("after")
        await until(lambda: len(intake.texts) == 3)
    assert intake.texts == ["before", "meanwhile", "after"]


def broken(dc: DiscordEmulator) -> None:
    dc.cut()


def closed(dc: DiscordEmulator) -> None:
    dc.cut(1001)


def unknown(dc: DiscordEmulator) -> None:
    dc.cut(4000)


def asked(dc: DiscordEmulator) -> None:
    dc.reconnect()


def invalid(dc: DiscordEmulator) -> None:
    dc.invalidate(resumable=True)


@pytest.mark.parametrize("trouble", [broken, closed, unknown, asked, invalid])
async def test_a_lost_connection_is_resumed(
    dc: DiscordEmulator, intake: MemoryIntake, trouble: Callable[[DiscordEmulator], None]
) -> None:
    """H-17: what is replayed is the same event, by its key."""
    async with running(dc, intake):
        dc.say("one")
        await until(lambda: intake.texts == ["one"])
        trouble(dc)
        dc.say("two")
        await until(lambda: intake.texts == ["one", "two"])
        dc.duplicate()
        dc.say("three")
        await until(lambda: len(intake.texts) == 3)
    assert intake.texts == ["one", "two", "three"]
    assert intake.duplicates == 1
    assert (len(dc.gateway.identifies), len(dc.gateway.resumes)) == (1, 1)


async def test_a_killed_session_is_made_up_from_history_once(
    dc: DiscordEmulator, intake: MemoryIntake
) -> None:
    thread = dc.thread()
    places = (None, CHANNEL, thread)
    async with running(dc, intake):
        for place in places:
            dc.say("before", channel=place)
        await until(lambda: len(intake.texts) == 3)
        dc.kill_sessions()
        for place in places:
            dc.say("meanwhile", channel=place)
        await until(lambda: len(intake.texts) == 6)
        await dc.connected()
        for place in places:
            dc.say("after", channel=place)
        await until(lambda: len(intake.texts) == 9)
    assert len(dc.gateway.identifies) == 2
    for place in (CHANNEL, thread):
        said = [event.text for event in intake.events if event.place.id == place]
        assert said == ["before", "meanwhile", "after"]


async def test_a_restart_reads_on_where_it_was(dc: DiscordEmulator, intake: MemoryIntake) -> None:
    """H-57: many pages, in order, with roles that the history does not name."""
    dc.grant("42", "5")
    async with running(dc, intake):
        dc.say("first", channel=CHANNEL)
        await until(lambda: intake.texts)
    later = [dc.say(f"{number}", channel=CHANNEL) for number in range(250)]
    async with running(dc, intake):
        await until(lambda: len(intake.texts) == 251)
        assert intake.read_to(CHANNEL) == later[-1]
        dc.say("live", channel=CHANNEL)
        await until(lambda: len(intake.texts) == 252)
    assert intake.texts == ["first", *map(str, range(250)), "live"]
    assert {event.sender.roles for event in intake.events} == {("5",)}
    assert {event.place.kind for event in intake.events} == {PlaceKind.GROUP}
    assert len(dc.calls_of("member")) == 1


async def test_a_direct_channel_is_read_after_a_restart(
    dc: DiscordEmulator, intake: MemoryIntake
) -> None:
    async with running(dc, intake):
        dc.say("hello", user="42")
        dc.say("hello", user="43")
        await until(lambda: len(intake.texts) == 2)
    dc.say("are you there?", user="43")
    async with running(dc, intake):
        await until(lambda: len(intake.texts) == 3)
    assert intake.events[-1].place == intake.events[1].place


async def test_killed_behind_the_first_message_ever(
    dc: DiscordEmulator, intake: MemoryIntake
) -> None:
    """The direct channel is listed before its first message is stored."""
    dc.say("long ago")
    intake.dies = True
    async with running(dc, intake):
        dc.say("hello")
        await until(lambda: intake.texts == ["hello"])
    intake.dies = False
    intake.cursors.pop(f"discord:111:{dc.dm()}")
    async with running(dc, intake):
        await until(lambda: intake.duplicates)
    assert intake.texts == ["hello"]


async def test_a_thread_opened_while_away_is_read_from_its_beginning(
    dc: DiscordEmulator, intake: MemoryIntake
) -> None:
    async with running(dc, intake):
        dc.say("in the channel", channel=CHANNEL)
        await until(lambda: intake.texts)
    dc.say("<@111> in the thread", channel=dc.thread())
    async with running(dc, intake):
        await until(lambda: len(intake.texts) == 2)
    assert intake.events[-1].place.parent == CHANNEL


async def test_history_before_the_first_start_is_left_alone(
    dc: DiscordEmulator, intake: MemoryIntake
) -> None:
    dc.say("long ago", channel=CHANNEL)
    async with running(dc, intake):
        dc.say("now", channel=CHANNEL)
        await until(lambda: intake.texts == ["now"])
    assert dc.calls_of("history") == []


@pytest.mark.parametrize(("status", "code"), [(403, 50001), (404, 10003)])
async def test_without_history_live_messages_still_come(
    dc: DiscordEmulator, intake: MemoryIntake, status: int, code: int
) -> None:
    async with running(dc, intake):
        dc.say("before", channel=CHANNEL)
        await until(lambda: intake.texts)
    dc.say("missed", channel=CHANNEL)
    dc.drop("history", times=2)  # the transport asks a second time by itself
    dc.fail("history", status, code=code)
    dc.slow("history", 0.1, times=3)
    async with running(dc, intake):
        await dc.wait_for_calls("history")
        dc.say("live", channel=CHANNEL)
        await dc.wait_for_calls("history", 3)
        dc.say("more", channel=CHANNEL)
        await until(lambda: len(intake.texts) == 3)
    assert intake.texts == ["before", "live", "more"]


async def test_what_the_history_does_not_tell_any_more(
    dc: DiscordEmulator, intake: MemoryIntake
) -> None:
    """Said and deleted while the channel is read: it was said all the same."""
    async with running(dc, intake):
        dc.say("before", channel=CHANNEL)
        await until(lambda: intake.texts)
    dc.say("missed", channel=CHANNEL)
    dc.slow("history", 0.1)
    async with running(dc, intake):
        await dc.wait_for_calls("history")
        dc.dispatch("MESSAGE_CREATE", {"id": "odd", "channel_id": CHANNEL})
        dc.delete(dc.say("gone", channel=CHANNEL), channel=CHANNEL)
        await until(lambda: "gone" in intake.texts)
        dc.say("after", channel=CHANNEL)
        await until(lambda: "after" in intake.texts)
    said = [event.text for event in intake.events if event.kind is EventKind.MESSAGE]
    assert said == ["before", "missed", "gone", "after"]


async def test_history_that_fails_for_a_while_is_asked_again(
    dc: DiscordEmulator, intake: MemoryIntake
) -> None:
    async with running(dc, intake):
        dc.say("before", channel=CHANNEL)
        await until(lambda: intake.texts)
    dc.say("missed", channel=CHANNEL)
    dc.drop("history")
    dc.limit("history", 7.0)
    dc.page("history", status=200)
    clock = WatchingClock()
    async with running(dc, intake, clock):
        await dc.wait_for_calls("history", 2)
        dc.say("live", channel=CHANNEL)
        await until(lambda: len(intake.texts) == 3)
    assert intake.texts == ["before", "missed", "live"]
    assert max(clock.slept) >= 7.0


async def test_a_store_that_refuses_loses_nothing(
    dc: DiscordEmulator, intake: MemoryIntake, clock: WatchingClock
) -> None:
    async with running(dc, intake, clock):
        intake.refusals += [StoreBusyError("busy")] * 3
        dc.say("one", channel=CHANNEL)
        dc.say("two", channel=CHANNEL)
        await until(lambda: len(intake.texts) == 2)
    assert intake.texts == ["one", "two"]
    assert len(clock.slept) == 3


async def test_discord_down_at_the_start(
    dc: DiscordEmulator, intake: MemoryIntake, clock: WatchingClock
) -> None:
    await dc.stop()
    async with running(dc, intake, clock, wait=False) as adapter:
        await until(lambda: len(clock.slept) > 3)
        states = [adapter.status.state]
        await dc.start()
        await dc.connected()
        dc.say("hello")
        await until(lambda: intake.texts == ["hello"])
        states.append(adapter.status.state)
    assert states == [ConnectionState.RETRYING, ConnectionState.CONNECTED]


async def test_the_first_connection_may_be_refused(
    dc: DiscordEmulator, intake: MemoryIntake, clock: WatchingClock
) -> None:
    dc.fail("ws", 503, times=2)
    async with running(dc, intake, clock):
        dc.say("hello")
        await until(lambda: intake.texts == ["hello"])
    assert [status.state for status in clock.seen[:2]] == [ConnectionState.RETRYING] * 2


async def test_an_outage_loses_nothing(
    dc: DiscordEmulator, intake: MemoryIntake, clock: WatchingClock
) -> None:
    async with running(dc, intake, clock):
        dc.say("one")
        await until(lambda: intake.texts == ["one"])
        await dc.stop()
        dc.say("two")
        await until(lambda: len(clock.slept) > 2)
        await dc.start()
        await until(lambda: intake.texts == ["one", "two"])


def revoked_before(dc: DiscordEmulator) -> None:
    dc.revoke()


def denied(dc: DiscordEmulator) -> None:
    dc._world.bots[TOKEN].intents_denied = True


@pytest.mark.parametrize(
    ("trouble", "remedy"),
    [(revoked_before, "DISCORD_BOT_TOKEN"), (denied, "Message Content Intent")],
)
async def test_what_can_never_work_is_said_once(
    dc: DiscordEmulator,
    intake: MemoryIntake,
    clock: WatchingClock,
    trouble: Callable[[DiscordEmulator], None],
    remedy: str,
) -> None:
    trouble(dc)
    adapter = build(dc, clock)
    async with asyncio.timeout(5):
        await adapter.run(intake)
    await adapter.aclose()
    assert adapter.status.state is ConnectionState.BAD_CREDENTIALS
    assert remedy in adapter.status.detail
    assert TOKEN not in adapter.status.detail
    assert clock.slept == []


async def test_a_token_revoked_meanwhile(
    dc: DiscordEmulator, intake: MemoryIntake, clock: WatchingClock
) -> None:
    adapter = build(dc, clock)
    task = asyncio.create_task(adapter.run(intake))
    await dc.connected()
    dc.revoke()
    async with asyncio.timeout(5):
        await task
    await adapter.aclose()
    assert adapter.status.state is ConnectionState.BAD_CREDENTIALS


async def test_a_token_revoked_while_away(
    dc: DiscordEmulator, intake: MemoryIntake, clock: WatchingClock
) -> None:
    adapter = build(dc, clock)
    task = asyncio.create_task(adapter.run(intake))
    await dc.connected()
    dc.kill_sessions()
    dc.revoke()
    async with asyncio.timeout(5):
        await task
    await adapter.aclose()
    assert adapter.status.state is ConnectionState.BAD_CREDENTIALS


async def test_a_steady_connection_is_resumed_at_once(
    dc: DiscordEmulator, intake: MemoryIntake, clock: WatchingClock
) -> None:
    async with running(dc, intake, clock):
        clock.elapsed += 3600.0
        dc.cut()
        await until(lambda: dc.gateway.resumes)
        dc.say("hello")
        await until(lambda: intake.texts == ["hello"])
    assert clock.slept == []


async def test_a_wrong_token_asks_once(
    dc: DiscordEmulator, intake: MemoryIntake, clock: WatchingClock
) -> None:
    adapter = build(dc, clock, OTHER_TOKEN)
    async with asyncio.timeout(5):
        await adapter.run(intake)
    await adapter.aclose()
    assert adapter.status.state is ConnectionState.BAD_CREDENTIALS
    assert len(dc.calls) == 1
    assert dc.gateway.identifies == []


def begun(dc: DiscordEmulator, count: int) -> bool:
    return len(dc.gateway.identifies) >= count


async def test_a_session_that_dies_at_once_is_not_begun_without_end(
    dc: DiscordEmulator, intake: MemoryIntake, clock: WatchingClock
) -> None:
    async with running(dc, intake, clock):
        for count in range(2, 6):
            await dc.connected()
            dc.kill_sessions()
            await until(functools.partial(begun, dc, count))
    assert sum(clock.slept) >= 5.0 * 4


async def test_the_days_sessions_are_not_overdrawn(
    dc: DiscordEmulator, intake: MemoryIntake, clock: WatchingClock
) -> None:
    dc._world.bots[TOKEN].identifies_left = 3
    async with running(dc, intake, clock, wait=False) as adapter:
        await until(lambda: clock.slept)
        assert "sessions are used up" in clock.seen[0].detail
        assert adapter.status.state is ConnectionState.RETRYING
    assert dc.gateway.identifies == []
    assert clock.slept[0] == 14_400.0


async def test_slash_commands_are_shown_and_taken(
    dc: DiscordEmulator, intake: MemoryIntake
) -> None:
    async with running(dc, intake):
        [call] = await dc.wait_for_calls("commands")
        assert [command["name"] for command in call.body] == ["new", "help"]
        option = {"name": "text", "type": 3, "value": "My trip"}
        pressed = dc.press("title", channel=CHANNEL, options=[option])
        await until(lambda: dc.interaction(pressed).deleted)
    [event] = intake.events
    assert event.command == Command("title", "My trip")
    assert (event.place.id, event.sender.id) == (CHANNEL, "42")
    answer = dc.interaction(pressed).answer
    assert answer is not None
    assert (answer["type"], answer["data"]["flags"]) == (5, 64)
    assert dc.interaction(pressed).token not in "".join(map(str, intake.received))


async def test_a_menu_that_is_refused_stops_nothing(
    dc: DiscordEmulator, intake: MemoryIntake
) -> None:
    dc.fail("commands", 403, code=50001)
    dc.fail("respond", 404, code=10062)
    async with running(dc, intake):
        dc.press("new")
        dc.say("hello")
        await until(lambda: intake.texts == ["", "hello"])
        await dc.wait_for_calls("respond")


async def test_two_runs_after_each_other(dc: DiscordEmulator, intake: MemoryIntake) -> None:
    async with running(dc, intake) as adapter:
        await until(lambda: adapter.status.state is ConnectionState.CONNECTED)
        guild = dc.channel("902", guild=GUILD)
    async with running(dc, intake):
        dc.say("hello", channel=guild)
        await until(lambda: intake.texts == ["hello"])
