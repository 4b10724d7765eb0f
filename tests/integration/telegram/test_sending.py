"""Sending: judged by what stands in the emulated chats, not by calls."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from adapters.telegram.manifest import CAPABILITIES
from gateway.model.errors import (
    AmbiguousSendError,
    CredentialsError,
    Disposition,
    PlatformError,
    RateLimitedError,
    UnreachableError,
)
from gateway.model.outbound import RichText, Span, SpanKind
from gateway.text.markup import parse
from gateway.text.split import split
from gateway.text.units import utf16_length
from tests.integration.telegram.support import (
    OTHER_TOKEN,
    WatchingClock,
    address,
    opened,
    part,
)
from tests.unit.text.documents import NASTY

if TYPE_CHECKING:
    from collections.abc import Callable

    from gateway.model.outbound import Part
    from tests.emulators.telegram.emulator import TelegramEmulator

ANN, BOB = 42, 43
OLD_GROUP, FORUM = -4455667, -1005550003333
BOLD = RichText("bold and plain", (Span(SpanKind.BOLD, 0, 4),))


def texts(tg: TelegramEmulator, chat: int = ANN) -> list[str]:
    return [message["text"] for message in tg.answers(chat)]


def visible(text: str) -> str:
    """Return ``text`` without blanks and the bidirectional override, which Telegram removes."""
    return "".join(text.replace("\u202e", "").split())


async def refused(tg: TelegramEmulator, wanted: Part) -> PlatformError:
    async with opened(tg) as adapter:
        with pytest.raises(PlatformError) as caught:
            await adapter.send(wanted)
    return caught.value


async def test_a_formatted_reply(tg: TelegramEmulator) -> None:
    question = tg.say("hello")
    async with opened(tg) as adapter:
        receipt = await adapter.send(part(BOLD, reply_to=question))
    [answer] = tg.answers()
    assert (receipt.message, receipt.degraded) == (str(answer["message_id"]), ())
    assert answer["text"] == "bold and plain"
    assert answer["entities"] == [{"type": "bold", "offset": 0, "length": 4}]
    assert answer["reply_to_message"]["message_id"] == question
    [call] = tg.calls_of("sendMessage")
    assert call.args["link_preview_options"] == {"is_disabled": True}
    assert "parse_mode" not in call.args


@pytest.mark.parametrize(
    "name", [name for name, text in NASTY if len(text) < 20_000] + ["5000 emoji"]
)
async def test_nasty_answers_arrive_whole(tg: TelegramEmulator, name: str) -> None:
    """H-29, H-30, H-31."""
    tg.say("hello")
    rich = parse(dict(NASTY)[name])
    pieces = split(
        rich,
        limit=CAPABILITIES.max_length,
        size=lambda piece: utf16_length(piece.text),
        max_spans=CAPABILITIES.max_spans,
    )
    async with opened(tg) as adapter:
        receipts = [await adapter.send(part(piece)) for piece in pieces]
    assert all(receipt.degraded == () for receipt in receipts)
    assert [visible(text) for text in texts(tg)] == [visible(piece.text) for piece in pieces]


async def test_a_deleted_question_stops_no_part(tg: TelegramEmulator) -> None:
    """H-36: in a topic too, where Telegram puts the topic's root in the reply's place."""
    topic = tg.topic(FORUM, "Deploys")
    question = tg.say("hello", chat=FORUM, thread=topic)
    tg.delete(FORUM, question)
    async with opened(tg) as adapter:
        for number in range(5):
            wanted = part(f"part {number}", FORUM, thread=topic, reply_to=question)
            receipt = await adapter.send(wanted)
            assert receipt.degraded == ("no-reply",)
    assert texts(tg, FORUM) == [f"part {number}" for number in range(5)]


async def test_a_reply_that_telegram_refuses_goes_without_it(tg: TelegramEmulator) -> None:
    question = tg.say("hello")
    tg.fail("sendMessage", 400, "message to be replied not found")
    async with opened(tg) as adapter:
        receipt = await adapter.send(part("answer", reply_to=question))
    assert receipt.degraded == ("no-reply",)
    assert texts(tg) == ["answer"]


async def test_formatting_that_telegram_refuses_goes_plain_once(tg: TelegramEmulator) -> None:
    """H-29."""
    tg.say("hello")
    tg.fail("sendMessage", 400, "can't parse entities: unexpected end", times=2)
    async with opened(tg) as adapter:
        with pytest.raises(PlatformError) as caught:
            await adapter.send(part(BOLD))
        assert caught.value.disposition is Disposition.GIVE_UP
        tg.fail("sendMessage", 400, "can't parse entities: unexpected end")
        receipt = await adapter.send(part(BOLD))
    assert receipt.degraded == ("plain",)
    [answer] = tg.answers()
    assert answer["text"] == "bold and plain"
    assert "entities" not in answer


async def test_topics_and_general(tg: TelegramEmulator) -> None:
    """H-25."""
    topic = tg.topic(FORUM, "Deploys")
    async with opened(tg) as adapter:
        await adapter.send(part("in the topic", FORUM, thread=topic))
        await adapter.send(part("in general", FORUM, thread=1))
        receipt = await adapter.send(part("to a topic that is gone", FORUM, thread=999))
    placed = [(each["text"], each.get("message_thread_id")) for each in tg.answers(FORUM)]
    assert placed == [
        ("in the topic", topic),
        ("in general", None),
        ("to a topic that is gone", None),
    ]
    assert receipt.degraded == ("no-thread",)
    assert texts(tg, ANN) == []


async def test_a_group_that_moved_is_followed(tg: TelegramEmulator) -> None:
    """H-28."""
    tg.group(OLD_GROUP, title="Kitchen")
    question = tg.say("hello", chat=OLD_GROUP)
    new = tg.migrate(OLD_GROUP)
    async with opened(tg) as adapter:
        receipt = await adapter.send(part("answer", OLD_GROUP, reply_to=question))
    assert texts(tg, new) == ["answer"]
    assert "reply_to_message" not in tg.answers(new)[0]
    assert receipt.degraded == ("no-reply",)


async def test_a_wait_in_one_chat_holds_up_no_other(
    tg: TelegramEmulator, clock: WatchingClock
) -> None:
    """H-34: not sooner than asked, typing pauses too, nothing is slept away."""
    tg.say("hello", user=ANN)
    tg.say("hello", user=BOB)
    tg.fail("sendMessage", 429, retry_after=30, chat=ANN)
    async with opened(tg, clock) as adapter:
        with pytest.raises(RateLimitedError) as caught:
            await adapter.send(part("one", ANN))
        assert caught.value.retry_after == 30
        calls = len(tg.calls)
        with pytest.raises(RateLimitedError) as caught:
            await adapter.send(part("one", ANN))
        assert caught.value.retry_after == pytest.approx(30)
        await adapter.typing(address(ANN))
        assert len(tg.calls) == calls
        await adapter.send(part("for Bob", BOB))
        assert clock.slept == []
        clock.elapsed += 30
        for text in ("one", "two", "three"):
            await adapter.send(part(text, ANN))
    assert texts(tg, ANN) == ["one", "two", "three"]
    assert texts(tg, BOB) == ["for Bob"]
    assert clock.slept == []


async def test_a_lost_answer_is_unknown_and_not_repeated(tg: TelegramEmulator) -> None:
    tg.say("hello")
    tg.lose("sendMessage")
    error = await refused(tg, part("answer"))
    assert isinstance(error, AmbiguousSendError)
    assert texts(tg) == ["answer"]
    assert len(tg.calls_of("sendMessage")) == 1


def half(tg: TelegramEmulator) -> None:
    tg.truncate("sendMessage")


def dropped(tg: TelegramEmulator) -> None:
    tg.drop("sendMessage")


def bad_gateway(tg: TelegramEmulator) -> None:
    tg.malformed("sendMessage", status=502)


def no_message(tg: TelegramEmulator) -> None:
    tg.malformed("sendMessage", body='{"ok": true, "result": {"message_id": 5}}')


@pytest.mark.parametrize("trouble", [half, dropped, bad_gateway, no_message])
async def test_whatever_leaves_it_open_is_unknown(
    tg: TelegramEmulator, trouble: Callable[[TelegramEmulator], None]
) -> None:
    tg.say("hello")
    trouble(tg)
    assert isinstance(await refused(tg, part("answer")), AmbiguousSendError)
    assert len(tg.calls_of("sendMessage")) == 1


async def test_what_never_left_is_tried_again(tg: TelegramEmulator) -> None:
    await tg.stop()
    error = await refused(tg, part("answer"))
    assert (type(error), error.disposition) == (PlatformError, Disposition.RETRY)


async def test_a_person_who_blocked_the_bot_stops_nobody_else(tg: TelegramEmulator) -> None:
    """H-35."""
    tg.say("hello", user=ANN)
    tg.say("hello", user=BOB)
    tg.block(ANN)
    async with opened(tg) as adapter:
        with pytest.raises(UnreachableError):
            await adapter.send(part("answer", ANN))
        await adapter.send(part("answer", BOB))
    assert texts(tg, BOB) == ["answer"]
    assert len(tg.calls_of("sendMessage")) == 2


@pytest.mark.parametrize(
    ("text", "code"), [("x" * 4097, "too_long"), ("", "empty"), (" \n\t", "empty")]
)
async def test_what_no_retry_can_cure(tg: TelegramEmulator, text: str, code: str) -> None:
    """H-33."""
    tg.say("hello")
    error = await refused(tg, part(text))
    assert (error.code, error.disposition) == (code, Disposition.GIVE_UP)
    assert texts(tg) == []


async def test_a_stranger_is_unreachable(tg: TelegramEmulator) -> None:
    assert isinstance(await refused(tg, part("answer", 777)), UnreachableError)


async def test_a_wrong_token_is_said(tg: TelegramEmulator) -> None:
    async with opened(tg, token=OTHER_TOKEN) as adapter:
        with pytest.raises(CredentialsError):
            await adapter.send(part("answer"))


async def test_typing_is_shown_in_its_topic(tg: TelegramEmulator) -> None:
    topic = tg.topic(FORUM, "Deploys")
    async with opened(tg) as adapter:
        await adapter.typing(address(FORUM, topic))
    [call] = tg.calls_of("sendChatAction")
    assert (call.args["chat_id"], call.args["message_thread_id"]) == (str(FORUM), topic)
    assert call.args["action"] == "typing"


async def test_typing_that_fails_is_not_swallowed(
    tg: TelegramEmulator, clock: WatchingClock
) -> None:
    tg.say("hello")
    tg.fail("sendChatAction", 429, retry_after=30)
    async with opened(tg, clock) as adapter:
        with pytest.raises(RateLimitedError):
            await adapter.typing(address())
        with pytest.raises(RateLimitedError):
            await adapter.send(part("answer"))
    assert tg.calls_of("sendMessage") == []


async def test_chats_are_written_to_at_the_same_time(tg: TelegramEmulator) -> None:
    chats = range(100, 120)
    for chat in chats:
        tg.say("hello", user=chat)
    tg.slow("sendMessage", 0.2, times=len(chats))
    async with opened(tg) as adapter, asyncio.timeout(2):
        await asyncio.gather(*(adapter.send(part("answer", chat)) for chat in chats))
    assert all(texts(tg, chat) == ["answer"] for chat in chats)


async def test_it_never_claims_to_have_looked_a_message_up(tg: TelegramEmulator) -> None:
    async with opened(tg) as adapter:
        with pytest.raises(PlatformError) as caught:
            await adapter.look_up(part("answer"))
    assert caught.value.disposition is Disposition.AMBIGUOUS
