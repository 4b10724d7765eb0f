"""Receiving: nothing is confirmed before it is stored, and no trouble is for ever."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest

from gateway.model.errors import StoreBusyError
from gateway.model.events import EventKind
from gateway.ports import ConnectionState
from tests.integration.telegram.support import (
    COMMANDS,
    OTHER_TOKEN,
    TOKEN,
    MemoryIntake,
    WatchingClock,
    build_all,
    opened,
    running,
    until,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.emulators.telegram.emulator import TelegramEmulator

GROUP = -1009876543210


async def test_messages_arrive_in_order(tg: TelegramEmulator, intake: MemoryIntake) -> None:
    tg.say("one")
    async with running(tg, intake) as adapter:
        await until(lambda: intake.texts == ["one"])
        tg.say("two")
        tg.say("@gate_bot three", chat=GROUP)
        await until(lambda: len(intake.texts) == 3)
        states = [adapter.status.state]
    states.append(adapter.status.state)
    assert intake.texts == ["one", "two", "three"]
    assert intake.events[2].mentions_bot
    assert states == [ConnectionState.CONNECTED, ConnectionState.STOPPED]


async def test_an_update_is_confirmed_only_after_it_is_stored(
    tg: TelegramEmulator, intake: MemoryIntake
) -> None:
    intake.gate.clear()
    tg.say("hello")
    async with running(tg, intake):
        await intake.waiting.wait()
        polls = len(tg.calls_of("getUpdates"))
        await asyncio.sleep(0.05)
        assert len(tg.calls_of("getUpdates")) == polls
        assert [update["message"]["text"] for update in tg.pending()] == ["hello"]
        intake.gate.set()
        await until(lambda: not tg.pending())
    assert intake.texts == ["hello"]


async def test_killed_between_storing_and_confirming_the_message_has_one_key(
    tg: TelegramEmulator, intake: MemoryIntake
) -> None:
    """H-15: with the cursor it does not come again; without, the key tells that it is the same."""
    tg.say("/restart")
    intake.dies = True
    async with running(tg, intake):
        await until(lambda: intake.events)
    assert tg.pending()
    intake.cursors.clear()
    async with running(tg, intake):
        await until(lambda: len(intake.events) == 2)
    assert len({event.dedupe_key for event in intake.events}) == 1
    intake.dies = False
    async with running(tg, intake):
        await until(lambda: not tg.pending())
    assert len(intake.events) == 2


async def test_a_restart_goes_on_where_it_was(tg: TelegramEmulator, intake: MemoryIntake) -> None:
    tg.say("before")
    async with running(tg, intake):
        await until(lambda: intake.texts == ["before"])
    polls = len(tg.calls_of("getUpdates"))
    [stored] = intake.cursors.values()
    tg.say("meanwhile")
    async with running(tg, intake):
        await until(lambda: len(intake.texts) > 1)
    assert intake.texts == ["before", "meanwhile"]
    assert tg.calls_of("getUpdates")[polls].args["offset"] == int(stored)


async def test_a_store_that_refuses_loses_nothing(
    tg: TelegramEmulator, intake: MemoryIntake, clock: WatchingClock
) -> None:
    intake.refusals += [StoreBusyError("busy"), StoreBusyError("busy")]
    tg.say("hello")
    async with running(tg, intake, clock):
        await until(lambda: intake.texts)
    assert intake.texts == ["hello"]
    assert [status.state for status in clock.seen] == [ConnectionState.RETRYING] * 2


async def test_a_poison_update_is_set_aside_and_blocks_nobody(
    tg: TelegramEmulator, intake: MemoryIntake
) -> None:
    tg.say("before")
    poison = tg.push({"message": {"message_id": "ten", "text": "private"}})
    tg.say("after")
    async with running(tg, intake):
        await until(lambda: len(intake.received) == 3)
        await until(lambda: not tg.pending())
    assert intake.texts == ["before", "after"]
    aside = intake.received[1]
    assert (aside.event, aside.update) == (None, str(poison))
    assert json.loads(aside.raw)["message"]["text"] == "private"
    assert "update.message" in aside.fault
    assert "private" not in aside.fault


async def test_two_bots_never_meet(tg: TelegramEmulator, intake: MemoryIntake) -> None:
    """H-19: the same person, the same message number, two bots."""
    tg.bot(OTHER_TOKEN, username="second_bot")
    tg.say("to one", bot=TOKEN)
    tg.say("to two", bot=OTHER_TOKEN)
    async with running(tg, intake), running(tg, intake, token=OTHER_TOKEN):
        await until(lambda: len(intake.events) == 2)
    assert {event.message for event in intake.events} == {"1"}
    assert len({event.dedupe_key for event in intake.events}) == 2
    assert len(intake.cursors) == 2


async def test_edits_blocks_and_moves(tg: TelegramEmulator, intake: MemoryIntake) -> None:
    """H-20, H-28, H-35."""
    message = tg.say("helo")
    tg.edit(message, "hello")
    tg.group(-4455667, title="Kitchen")
    new = tg.migrate(-4455667)
    tg.block()
    async with running(tg, intake):
        await until(lambda: len(intake.events) == 5)
    kinds = [event.kind for event in intake.events]
    moves = [event for event in intake.events if event.kind is EventKind.MOVED]
    assert kinds[:2] == [EventKind.MESSAGE, EventKind.EDIT]
    assert kinds[4] is EventKind.UNREACHABLE
    assert [(event.place.id, event.moved_to) for event in moves] == [("-4455667", str(new))] * 2


async def test_only_what_is_used_is_asked_for(tg: TelegramEmulator, intake: MemoryIntake) -> None:
    async with running(tg, intake):
        await until(lambda: tg.calls_of("getUpdates"))
    asked = tg.calls_of("getUpdates")[0].args["allowed_updates"]
    assert asked == [
        "message",
        "edited_message",
        "channel_post",
        "edited_channel_post",
        "my_chat_member",
        "callback_query",
    ]


async def test_commands_are_shown_in_the_menu(
    tg: TelegramEmulator, intake: MemoryIntake, clock: WatchingClock
) -> None:
    async with running(tg, intake, clock):
        await until(lambda: tg.calls_of("getUpdates"))
    shown = tg.calls_of("setMyCommands")[0].args["commands"]
    assert [(each["command"], each["description"]) for each in shown] == list(COMMANDS)


async def test_a_menu_that_fails_stops_nothing(tg: TelegramEmulator, intake: MemoryIntake) -> None:
    tg.fail("setMyCommands", 400, "BOT_COMMAND_INVALID")
    tg.say("hello")
    async with running(tg, intake):
        await until(lambda: intake.texts == ["hello"])


async def test_a_webhook_is_removed_and_said(tg: TelegramEmulator, intake: MemoryIntake) -> None:
    info = {"url": "https://e.org", "has_custom_certificate": False, "pending_update_count": 0}
    tg.malformed("getWebhookInfo", body=json.dumps({"ok": True, "result": info}))
    async with running(tg, intake) as adapter:
        await until(lambda: adapter.status.state is ConnectionState.CONNECTED)
        assert "webhook" in adapter.status.detail
    assert len(tg.calls_of("deleteWebhook")) == 1


# --- trouble ------------------------------------------------------------------------------------


async def test_a_wrong_token_is_one_clear_status(
    tg: TelegramEmulator, intake: MemoryIntake, clock: WatchingClock
) -> None:
    async with opened(tg, clock, OTHER_TOKEN) as adapter:
        await asyncio.wait_for(adapter.run(intake), 5)
    assert adapter.status.state is ConnectionState.BAD_CREDENTIALS
    assert "@BotFather" in adapter.status.detail
    assert "BBinvented" not in adapter.status.detail
    assert [call.method for call in tg.calls] == ["getMe"]


async def test_a_token_revoked_later_ends_it_too(
    tg: TelegramEmulator, intake: MemoryIntake, clock: WatchingClock
) -> None:
    [adapter] = build_all(tg, clock)
    run = asyncio.create_task(adapter.run(intake))
    await until(lambda: adapter.status.state is ConnectionState.CONNECTED)
    before = len(tg.calls)
    tg.revoke(TOKEN)
    await asyncio.wait_for(run, 5)
    assert adapter.status.state is ConnectionState.BAD_CREDENTIALS
    assert len(tg.calls) - before <= 3
    await adapter.aclose()


async def test_a_passing_404_is_no_bad_token(tg: TelegramEmulator, intake: MemoryIntake) -> None:
    tg.fail("getUpdates", 404, "Not Found")
    tg.say("hello")
    async with running(tg, intake):
        await until(lambda: intake.texts == ["hello"])


async def test_a_platform_that_is_down_at_start(
    tg: TelegramEmulator, intake: MemoryIntake, clock: WatchingClock
) -> None:
    tg.say("hello")
    await tg.stop()
    async with running(tg, intake, clock):
        await until(lambda: len(clock.slept) >= 8)
        pauses = clock.slept[:8]
        assert {status.state for status in clock.seen} == {ConnectionState.RETRYING}
        await tg.start()
        await until(lambda: intake.texts == ["hello"])
    assert 0.7 <= pauses[0] <= 1.0
    assert 21.0 <= pauses[7] <= 30.0


def dropped(tg: TelegramEmulator) -> None:
    tg.drop("getUpdates", times=2)


def lost(tg: TelegramEmulator) -> None:
    tg.lose("getUpdates", times=2)


def bad_gateway(tg: TelegramEmulator) -> None:
    tg.malformed("getUpdates", status=502, times=2)


def page(tg: TelegramEmulator) -> None:
    tg.malformed("getUpdates", times=2)


def half(tg: TelegramEmulator) -> None:
    tg.truncate("getUpdates", times=2)


def no_list(tg: TelegramEmulator) -> None:
    tg.malformed("getUpdates", body='{"ok": true, "result": {"a": 1}}', times=2)


def no_object(tg: TelegramEmulator) -> None:
    tg.malformed("getUpdates", body="[1]", times=2)


def no_result(tg: TelegramEmulator) -> None:
    tg.malformed("getUpdates", body='{"ok": true}', times=2)


def no_number(tg: TelegramEmulator) -> None:
    tg.malformed("getUpdates", body='{"ok": true, "result": [{"message": {}}, 7]}', times=2)


def internal(tg: TelegramEmulator) -> None:
    tg.fail("getUpdates", 500, "Internal Server Error", times=2)


@pytest.mark.parametrize(
    "trouble",
    [dropped, lost, bad_gateway, page, half, no_list, no_object, no_result, no_number, internal],
)
async def test_trouble_passes(
    tg: TelegramEmulator,
    intake: MemoryIntake,
    clock: WatchingClock,
    trouble: Callable[[TelegramEmulator], None],
) -> None:
    trouble(tg)
    tg.say("hello")
    async with running(tg, intake, clock) as adapter:
        await until(lambda: intake.texts == ["hello"])
        await until(lambda: adapter.status.state is ConnectionState.CONNECTED)
    assert [status.state for status in clock.seen] == [ConnectionState.RETRYING] * 2
    assert clock.slept[0] < clock.slept[1]


async def test_a_wait_that_telegram_asks_for_is_kept(
    tg: TelegramEmulator, intake: MemoryIntake, clock: WatchingClock
) -> None:
    """H-34."""
    tg.fail("getUpdates", 429, retry_after=37)
    tg.say("hello")
    async with running(tg, intake, clock):
        await until(lambda: intake.texts == ["hello"])
    assert clock.slept == [37.0]


async def test_a_second_program_with_the_token_is_said_and_survived(
    tg: TelegramEmulator, intake: MemoryIntake, clock: WatchingClock
) -> None:
    tg.fail("getUpdates", 409, "Conflict: terminated by other getUpdates request", times=3)
    async with running(tg, intake, clock) as adapter:
        await until(lambda: len(clock.seen) == 3)
        assert {status.state for status in clock.seen} == {ConnectionState.CONFLICT}
        assert "another program" in clock.seen[0].detail
        tg.say("hello")
        await until(lambda: intake.texts == ["hello"])
        await until(lambda: adapter.status.state is ConnectionState.CONNECTED)
    assert clock.slept[0] < clock.slept[2]


async def test_ids_that_begin_again_are_followed(
    tg: TelegramEmulator, intake: MemoryIntake
) -> None:
    """After a silent week Telegram numbers updates from anywhere, lower too."""
    tg.say("one")
    async with running(tg, intake):
        await until(lambda: intake.texts == ["one"] and not tg.pending())
        tg.push({"message": message("two")}, update_id=500)
        await until(lambda: intake.texts == ["one", "two"])
        tg.say("three")
        await until(lambda: len(intake.texts) > 2)
        await until(lambda: not tg.pending())
    assert intake.texts == ["one", "two", "three"]


def message(text: str) -> dict[str, object]:
    chat = {"id": 42, "first_name": "Ann", "type": "private"}
    return {"message_id": 7, "chat": chat, "from": chat, "date": 1795982000, "text": text}


async def test_a_repeat_in_a_full_queue_loses_nothing(
    tg: TelegramEmulator, intake: MemoryIntake
) -> None:
    """More updates wait than one answer holds, and the newest of them is delivered twice."""
    words = [f"word {number}" for number in range(150)]
    for each in words:
        tg.say(each)
    tg.duplicate()
    async with running(tg, intake):
        await until(lambda: not tg.pending())
    assert list(dict.fromkeys(intake.texts)) == words
    assert intake.texts[-2:] == [words[-1]] * 2
