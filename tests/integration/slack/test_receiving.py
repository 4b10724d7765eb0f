"""Receiving: nothing is acknowledged before it is stored, and no trouble is for ever."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest
from structlog.testing import capture_logs

from adapters.slack.manifest import SLACK
from gateway.model.errors import StoreBusyError
from gateway.model.events import EventKind, PlaceKind
from gateway.ports import ConnectionState
from gateway.store.facts import BARE_TEAM, CURSOR
from tests.emulators.slack import CHANNEL, TEAM, TOKEN
from tests.integration.slack.support import (
    ACCOUNT,
    DM,
    OTHER_ACCOUNT,
    OTHER_TEAM,
    OTHER_TOKEN,
    HurriedClock,
    MemoryIntake,
    running,
    running_all,
    until,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.emulators.slack import SlackEmulator


async def test_messages_arrive(slack: SlackEmulator, intake: MemoryIntake) -> None:
    async with running(slack, intake) as adapter:
        slack.say("hello &amp; &lt;b&gt;")
        root = slack.mention("deploy")
        await until(lambda: len(intake.events) == 2)
        await slack.wait_until_acked()
        states = [adapter.status.state]
    states.append(adapter.status.state)
    direct, channel = intake.events
    assert (direct.text, direct.place.kind, direct.place.thread) == (
        "hello & <b>",
        PlaceKind.DIRECT,
        None,
    )
    assert (channel.text, channel.mentions_bot, channel.place.thread) == ("deploy", True, root)
    assert {attempt.number for attempt in slack.delivery.attempts} == {0}
    assert states == [ConnectionState.CONNECTED, ConnectionState.STOPPED]


async def test_nothing_is_acknowledged_before_it_is_stored(
    slack: SlackEmulator, intake: MemoryIntake
) -> None:
    slack.delivery.ack_seconds = 5.0
    intake.gate.clear()
    async with running(slack, intake):
        slack.say("hello")
        await intake.waiting.wait()
        await asyncio.sleep(0.05)
        assert [attempt.acked for attempt in slack.delivery.attempts] == [None]
        intake.gate.set()
        await slack.wait_until_acked()
    assert intake.texts == ["hello"]


async def test_a_store_that_refuses_gets_it_again(
    slack: SlackEmulator, intake: MemoryIntake
) -> None:
    intake.refusals += [StoreBusyError("busy"), StoreBusyError("busy")]
    async with running(slack, intake):
        slack.say("hello")
        await slack.wait_until_acked()
    assert intake.texts == ["hello"]
    assert [attempt.acked for attempt in slack.delivery.attempts] == [False, False, True]


async def test_a_mention_is_one_event_though_slack_tells_it_twice(
    slack: SlackEmulator, intake: MemoryIntake
) -> None:
    """H-16."""
    async with running(slack, intake):
        slack.mention("deploy")
        await slack.wait_until_acked()
    assert len(slack.delivery.attempts) == 2
    assert [(event.text, event.mentions_bot) for event in intake.events] == [("deploy", True)]


async def test_a_redelivery_has_the_same_key(slack: SlackEmulator, intake: MemoryIntake) -> None:
    """H-16: a slow store makes Slack deliver again; it stays one message."""
    slack.delivery.ack_seconds = 0.05
    intake.gate.clear()
    async with running(slack, intake):
        slack.say("hello")
        await until(lambda: len(slack.delivery.attempts) == 3)
        intake.gate.set()
        await slack.wait_until_acked()
    assert intake.texts == ["hello"]


async def test_a_burst_is_stored_in_its_order(slack: SlackEmulator, intake: MemoryIntake) -> None:
    async with running(slack, intake):
        for number in range(200):
            slack.say(str(number))
        await slack.wait_until_acked(timeout=10)
    assert intake.texts == [str(number) for number in range(200)]
    assert max(intake.batches) > 1


async def test_a_poison_event_is_set_aside_and_blocks_nobody(
    slack: SlackEmulator, intake: MemoryIntake
) -> None:
    async with running(slack, intake):
        slack.say("before")
        poison = slack.push({"type": "message", "channel": 7, "ts": "no", "text": "private"})
        slack.push("no object at all")
        slack.say("after")
        await slack.wait_until_acked()
    assert intake.texts == ["before", "after"]
    aside = [each for each in intake.received if each.event is None]
    assert aside[0].update == poison
    assert json.loads(aside[0].raw)["event"]["text"] == "private"
    assert "private" not in aside[0].fault
    assert len(aside) == 2


@pytest.mark.parametrize("frame", ["no json", "[]", '{"type":"new"}', '{"envelope_id":"x"}'])
async def test_odd_frames_are_survived(
    slack: SlackEmulator, intake: MemoryIntake, frame: str
) -> None:
    async with running(slack, intake):
        await slack.sockets.send_raw(frame)
        slack.say("hello")
        await slack.wait_until_acked()
    assert intake.texts == ["hello"]
    assert slack.sockets.opened == 1


async def test_own_words_and_edits_are_not_taken_in(
    slack: SlackEmulator, intake: MemoryIntake
) -> None:
    """H-18, H-43: by the bot's own id, whatever else the event holds."""
    async with running(slack, intake):
        slack.say("mine", channel=CHANNEL, user="U0BROOK001", bot_id="B0BROOK001")
        slack.say("mine too", channel=CHANNEL, user="", bot_id="B0BROOK001")
        slack.bot_say("beep")
        await slack.wait_until_acked()
    assert intake.texts == ["beep"]


async def test_edits_previews_and_deletions(slack: SlackEmulator, intake: MemoryIntake) -> None:
    """H-18."""
    async with running(slack, intake):
        ts = slack.say("see https://example.org")
        slack.unfurl(DM, ts)
        slack.edit(DM, ts, "see https://example.org now")
        slack.delete(DM, ts)
        await slack.wait_until_acked()
    kinds = [(event.kind, event.message) for event in intake.events]
    assert kinds == [
        (EventKind.MESSAGE, ts),
        (EventKind.SERVICE, ts),
        (EventKind.EDIT, ts),
        (EventKind.SERVICE, ts),
    ]
    assert len({event.dedupe_key for event in intake.events}) == 4


async def test_slash_commands(slack: SlackEmulator, intake: MemoryIntake) -> None:
    async with running(slack, intake):
        slack.command("/hermes", "new please")
        slack.command("/help", channel=DM)
        slack.command("/hermes", "what is up")
        await slack.wait_until_acked()
    found = [(event.command and event.command.name, event.text) for event in intake.events]
    assert sorted(found, key=str) == sorted(
        [("new", "/new please"), ("help", "/help"), (None, "what is up")], key=str
    )


async def test_two_teams_share_one_socket_and_never_meet(
    slack: SlackEmulator, intake: MemoryIntake
) -> None:
    """H-09: equal user ids in two teams are two people."""
    slack.bot(OTHER_TOKEN, team=OTHER_TEAM, user="U0BROOK002", bot_id="B0BROOK002")
    async with running_all(slack, intake, token=f"{TOKEN}, {OTHER_TOKEN}") as adapters:
        await until(lambda: all(a.status.state is ConnectionState.CONNECTED for a in adapters))
        slack.say("one")
        slack.say("two", team=OTHER_TEAM, channel="D0SAME0002")
        await until(lambda: len(intake.events) == 2)
    scopes = {event.text: event.sender.scope for event in intake.events}
    assert scopes == {"one": TEAM, "two": OTHER_TEAM}
    assert dict(zip(intake.texts, intake.accounts, strict=True)) == {
        "one": ACCOUNT,
        "two": OTHER_ACCOUNT,
    }
    assert slack.sockets.opened == 1


async def test_the_first_team_is_written_down_once(
    slack: SlackEmulator, intake: MemoryIntake
) -> None:
    async with running(slack, intake):
        pass
    slack.bot(OTHER_TOKEN, team=OTHER_TEAM, user="U0BROOK002", bot_id="B0BROOK002")
    async with running(slack, intake, token=OTHER_TOKEN):
        pass
    assert intake.cursors[BARE_TEAM.removeprefix(CURSOR)] == TEAM


async def test_names_and_languages_come_with_later_messages(
    slack: SlackEmulator, intake: MemoryIntake
) -> None:
    async with running(slack, intake):
        slack.say("first")
        await until(lambda: slack.calls_of("users.info"))
        await slack.wait_until_acked()
        await until(lambda: intake.events)
        slack.say("second")
        slack.say("third")
        await slack.wait_until_acked()
    assert intake.events[0].sender.name == ""
    assert intake.events[-1].sender.name == "u0mira0001"
    assert intake.events[-1].sender.language == "en-US"
    assert len(slack.calls_of("users.info")) == 1


async def test_no_event_asks_who_we_are(slack: SlackEmulator, intake: MemoryIntake) -> None:
    async with running(slack, intake):
        for number in range(20):
            slack.say(str(number))
        await slack.wait_until_acked()
    assert len(slack.calls_of("auth.test")) == 1


# --- trouble ------------------------------------------------------------------------------------


def abort(slack: SlackEmulator) -> Awaitable[None]:
    slack.sockets.abort()
    return asyncio.sleep(0)


def close(slack: SlackEmulator) -> Awaitable[None]:
    return slack.sockets.close()


def restart(slack: SlackEmulator) -> Awaitable[None]:
    return slack.down(0.1)


def dead_ticket(slack: SlackEmulator) -> Awaitable[None]:
    """The next address that Slack gives leads nowhere."""
    slack.sockets.dead_tickets = 1
    slack.sockets.abort()
    return asyncio.sleep(0)


def no_address(slack: SlackEmulator) -> Awaitable[None]:
    slack.malformed("apps.connections.open", status=502, times=2)
    slack.sockets.abort()
    return asyncio.sleep(0)


@pytest.mark.parametrize("trouble", [abort, close, restart, dead_ticket, no_address])
async def test_a_lost_connection_comes_back(
    slack: SlackEmulator,
    intake: MemoryIntake,
    clock: HurriedClock,
    trouble: Callable[[SlackEmulator], Awaitable[None]],
) -> None:
    async with running(slack, intake, clock) as adapter:
        await trouble(slack)
        await until(lambda: slack.sockets.opened == 2)
        slack.say("hello")
        await until(lambda: intake.texts == ["hello"])
        assert adapter.status.state is ConnectionState.CONNECTED
    assert ConnectionState.RETRYING in {status.state for status in clock.seen}
    assert trouble is restart or sum(clock.slept) < 8


async def test_a_socket_is_replaced_before_it_is_left(
    slack: SlackEmulator, intake: MemoryIntake, clock: HurriedClock
) -> None:
    async with running(slack, intake, clock) as adapter:
        await slack.sockets.disconnect("warning")
        await until(lambda: slack.sockets.opened == 2 and len(slack.sockets.live) == 1)
        slack.say("hello")
        await until(lambda: intake.texts == ["hello"])
        assert adapter.status.state is ConnectionState.CONNECTED
    assert clock.slept == []


async def test_socket_mode_switched_off_is_said(
    slack: SlackEmulator, intake: MemoryIntake, clock: HurriedClock
) -> None:
    async with running(slack, intake, clock):
        await slack.sockets.disconnect("link_disabled")
        await until(lambda: clock.seen)
    assert "Socket Mode" in clock.seen[0].detail


async def test_slack_down_at_the_start(
    slack: SlackEmulator, intake: MemoryIntake, clock: HurriedClock
) -> None:
    await slack.stop()
    async with running_all(slack, intake, clock):
        await until(lambda: len(clock.slept) >= 8)
        pauses = clock.slept[:8]
        assert {status.state for status in clock.seen} == {ConnectionState.RETRYING}
        await slack.start()
        slack.say("hello")
        await until(lambda: intake.texts == ["hello"])
    assert 0.7 <= pauses[0] <= 1.0
    assert 21.0 <= pauses[7] <= 30.0


async def test_a_wrong_bot_token_is_one_clear_status(
    slack: SlackEmulator, intake: MemoryIntake, clock: HurriedClock
) -> None:
    with capture_logs() as logs:
        async with running_all(slack, intake, clock, token=OTHER_TOKEN) as [adapter]:
            await until(lambda: adapter.status.state is ConnectionState.BAD_CREDENTIALS)
            await asyncio.sleep(0.05)
        told = [one for one in logs if one["event"] == "slack.bad_credentials"]
        assert [one["log_level"] for one in told] == ["warning"]
        assert "SLACK_BOT_TOKEN" in told[0]["detail"]
    assert "SLACK_BOT_TOKEN" in adapter.status.detail
    assert "Emulated" not in adapter.status.detail
    assert [call.method for call in slack.calls] == ["auth.test"]


async def test_a_wrong_app_token_is_one_clear_status(
    slack: SlackEmulator, intake: MemoryIntake, clock: HurriedClock
) -> None:
    async with running_all(slack, intake, clock, app_token="xapp-1-WRONG") as [adapter]:
        await until(lambda: adapter.status.state is ConnectionState.BAD_CREDENTIALS)
        await asyncio.sleep(0.05)
        assert "SLACK_APP_TOKEN" in adapter.status.detail
        assert "WRONG" not in adapter.status.detail
    assert len(slack.calls_of("apps.connections.open")) == 1


async def test_one_bad_token_does_not_stop_the_other_team(
    slack: SlackEmulator, intake: MemoryIntake
) -> None:
    async with running_all(slack, intake, token=f"{OTHER_TOKEN},{TOKEN}") as [bad, good]:
        await until(lambda: good.status.state is ConnectionState.CONNECTED)
        await until(lambda: bad.status.state is ConnectionState.BAD_CREDENTIALS)
        slack.say("hello")
        await until(lambda: intake.texts == ["hello"])


async def test_a_store_down_at_the_start_is_waited_out(
    slack: SlackEmulator, intake: MemoryIntake
) -> None:
    class Stubborn(MemoryIntake):
        refused = 0

        async def cursor(self, name: str) -> str | None:
            self.refused += 1
            if self.refused < 3:
                raise StoreBusyError("busy")
            return await super().cursor(name)

    stubborn = Stubborn()
    async with running(slack, stubborn):
        await until(lambda: f"{SLACK}:{ACCOUNT}" in stubborn.cursors)
