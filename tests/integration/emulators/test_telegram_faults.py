"""Each planned fault arrives as the exception that python-telegram-bot makes of it."""

from __future__ import annotations

import asyncio
import time
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
import telegram
from telegram import error as errors

from tests.emulators.telegram import USER

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.emulators.telegram import TelegramEmulator


@pytest.fixture(autouse=True)
def _known_chat(tg: TelegramEmulator) -> None:
    tg.say("/start")


def sent(tg: TelegramEmulator) -> list[str]:
    return [message["text"] for message in tg.answers()]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (400, errors.BadRequest),
        (401, errors.InvalidToken),
        (403, errors.Forbidden),
        (404, errors.InvalidToken),
        (409, errors.Conflict),
        (500, errors.NetworkError),
        (502, errors.NetworkError),
    ],
)
async def test_error_codes(
    tg: TelegramEmulator, bot: telegram.Bot, code: int, expected: type[Exception]
) -> None:
    tg.fail("sendMessage", code, "Something: about it")
    with pytest.raises(expected) as caught:
        await bot.send_message(USER, "x")

    assert type(caught.value) is expected
    assert sent(tg) == []
    assert [call.error for call in tg.calls_of("sendMessage")] == [code]
    await bot.send_message(USER, "the next one works")


async def test_flood_wait_carries_its_seconds(tg: TelegramEmulator, bot: telegram.Bot) -> None:
    tg.fail("sendMessage", 429, retry_after=37, times=2)
    for _ in range(2):
        with pytest.raises(errors.RetryAfter) as caught:
            await bot.send_message(USER, "x")
        assert caught.value.retry_after == timedelta(seconds=37)
    await bot.send_message(USER, "x")


async def test_a_fault_may_concern_one_chat_only(tg: TelegramEmulator, bot: telegram.Bot) -> None:
    tg.say("/start", user=7)
    tg.fail("sendMessage", 400, "no", chat=7)
    await bot.send_message(USER, "x")
    with pytest.raises(errors.BadRequest):
        await bot.send_message(7, "x")


@pytest.mark.parametrize(
    ("plan", "expected", "delivered"),
    [
        (lambda tg: tg.drop("sendMessage"), errors.NetworkError, []),
        (lambda tg: tg.lose("sendMessage"), errors.NetworkError, ["x"]),
        (lambda tg: tg.truncate("sendMessage"), errors.TelegramError, ["x"]),
        (lambda tg: tg.malformed("sendMessage"), errors.TelegramError, []),
        (lambda tg: tg.malformed("sendMessage", status=502), errors.NetworkError, []),
    ],
    ids=["drop", "lose", "truncate", "malformed", "bad-gateway"],
)
async def test_broken_answers(
    tg: TelegramEmulator,
    bot: telegram.Bot,
    plan: Callable[[TelegramEmulator], None],
    expected: type[Exception],
    delivered: list[str],
) -> None:
    plan(tg)
    with pytest.raises(expected) as caught:
        await bot.send_message(USER, "x")

    assert type(caught.value) is expected
    assert sent(tg) == delivered


async def test_a_slow_send_happens_although_the_client_gave_up(
    tg: TelegramEmulator, bot: telegram.Bot
) -> None:
    tg.slow("sendMessage", 0.2)
    with pytest.raises(errors.TimedOut):
        await bot.send_message(USER, "x", read_timeout=0.05)
    assert sent(tg) == []
    assert [message["text"] for message in await tg.wait_for(1)] == ["x"]


async def test_down_and_back_on_the_same_port(tg: TelegramEmulator, bot: telegram.Bot) -> None:
    poll = asyncio.create_task(bot.get_updates(offset=1_000_000, timeout=30))
    address = tg.address
    await tg.stop()
    with pytest.raises(errors.NetworkError):
        await bot.send_message(USER, "x")
    await tg.start()

    assert tg.address == address
    await bot.send_message(USER, "y")
    assert sent(tg) == ["y"]
    poll.cancel()
    await asyncio.gather(poll, return_exceptions=True)


async def test_going_down_cuts_the_poll_that_waits(
    tg: TelegramEmulator, bot: telegram.Bot
) -> None:
    await bot.get_updates(offset=-1, timeout=0)
    poll = asyncio.create_task(bot.get_updates(offset=100_002, timeout=30))
    await tg.wait_for_calls("getUpdates", 2)
    outage = asyncio.create_task(tg.down(0.05))
    with pytest.raises(errors.NetworkError):
        await poll
    await outage
    tg.say("afterwards")
    assert len(await bot.get_updates(offset=100_002, timeout=5)) == 1


async def test_flood_control_counts_sends_and_edits_per_chat(
    tg: TelegramEmulator, bot: telegram.Bot
) -> None:
    tg.say("/start", user=7)
    tg.flood(per_chat=3.0)
    message = await bot.send_message(USER, "x")
    with pytest.raises(errors.RetryAfter) as caught:
        await bot.edit_message_text("y", USER, message.message_id)
    assert caught.value.retry_after == timedelta(seconds=3)
    with pytest.raises(errors.RetryAfter):
        await bot.send_voice(USER, b"ogg")
    await bot.send_chat_action(USER, "typing")
    await bot.send_message_draft(USER, draft_id=1, text="wri")
    await bot.send_message(7, "another chat")
    tg.flood(per_chat=0)
    await bot.edit_message_text("y", USER, message.message_id)


async def test_unknown_methods_and_tokens(tg: TelegramEmulator, bot: telegram.Bot) -> None:
    with pytest.raises(errors.EndPointNotFound):
        await bot.do_api_request("noSuchMethod")
    stranger = telegram.Bot("999:WRONG", base_url=tg.base_url)
    with pytest.raises(errors.InvalidToken):
        await stranger.initialize()
    await stranger.shutdown()


async def test_waiting_says_what_came(tg: TelegramEmulator, bot: telegram.Bot) -> None:
    await bot.send_message(USER, "x")
    with pytest.raises(TimeoutError, match="1 answers in chat 42"):
        await tg.wait_for(2, timeout=0.01)
    with pytest.raises(TimeoutError, match="0 calls of getFile"):
        await tg.wait_for_calls("getFile", timeout=0.01)
    found = await tg.wait_for(lambda answers: any(one["text"] == "x" for one in answers))
    assert len(found) == 1


async def test_message_dates_are_now_unless_given(tg: TelegramEmulator) -> None:
    tg.say("dated", date=1_700_000_000)
    start, dated = tg.messages()
    assert abs(start["date"] - time.time()) < 60
    assert dated["date"] == 1_700_000_000
