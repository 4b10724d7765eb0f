"""Sending: each part once, nobody pinged, no wait longer than Discord asked for."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import pytest

from adapters.discord.adapter import DiscordAdapter
from adapters.discord.client import Client, Draft
from adapters.discord.manifest import CAPABILITIES
from adapters.discord.render import size
from adapters.discord.sink import nonce
from gateway.model.errors import (
    AmbiguousSendError,
    CredentialsError,
    Disposition,
    PlatformError,
    RateLimitedError,
    UnreachableError,
)
from gateway.model.ids import AccountId, PlaceId
from gateway.text.markup import parse
from gateway.text.split import split
from tests.emulators.discord import CHANNEL, TOKEN, DiscordEmulator
from tests.integration.discord.support import BOT, OTHER_TOKEN, address, opened, part

if TYPE_CHECKING:
    from collections.abc import Callable

    from gateway.model.outbound import Part


def texts(dc: DiscordEmulator, channel: str | None = CHANNEL) -> list[str]:
    return [message["content"] for message in dc.answers(channel)]


async def refused(dc: DiscordEmulator, what: Part) -> PlatformError:
    """Send, which must fail, and return the error."""
    async with opened(dc) as adapter:
        with pytest.raises(PlatformError) as caught:
            await adapter.send(what)
    return caught.value


async def test_a_part_is_posted_as_an_answer(dc: DiscordEmulator) -> None:
    question = dc.say("deploy?", channel=CHANNEL)
    async with opened(dc) as adapter:
        receipt = await adapter.send(part("yes", reply_to=question))
    [message] = dc.answers(CHANNEL)
    assert (receipt.message, receipt.degraded) == (message["id"], ())
    assert message["message_reference"]["message_id"] == question
    assert message["flags"] & 4  # links show no preview


@pytest.mark.parametrize(
    "text", ["ok @everyone and @here", "<@&777> look", "hi <@42>", "<@!42> and <@43>"]
)
async def test_nobody_is_pinged(dc: DiscordEmulator, text: str) -> None:
    """H-32: neither by the answer nor by the message it answers."""
    question = dc.say("x", channel=CHANNEL)
    async with opened(dc) as adapter:
        await adapter.send(part(text, reply_to=question))
    [message] = dc.answers(CHANNEL)
    assert (message["mentions"], message["mention_roles"]) == ([], [])
    assert message["mention_everyone"] is False
    assert message["content"].replace("\\", "") == text
    [call] = dc.calls_of("send")
    assert call.body["allowed_mentions"] == {"parse": []}


async def test_a_lost_answer_is_sent_again_and_stands_once(dc: DiscordEmulator) -> None:
    what = part("answer", key="outbox/" + "x" * 100)
    dc.lose("send")
    async with opened(dc) as adapter:
        with pytest.raises(AmbiguousSendError):
            await adapter.send(what)
        receipt = await adapter.send(what)
    [message] = dc.answers(CHANNEL)
    assert receipt.message == message["id"]


async def test_different_parts_of_the_same_words_stand_both(dc: DiscordEmulator) -> None:
    async with opened(dc) as adapter:
        await adapter.send(part("ok", key="1"))
        await adapter.send(part("ok", key="2"))
    assert texts(dc) == ["ok", "ok"]
    assert nonce("1") != nonce("2")
    assert len(nonce("1")) == 25


@pytest.mark.parametrize("remembers", [True, False])
async def test_a_part_in_doubt_is_looked_for(dc: DiscordEmulator, *, remembers: bool) -> None:
    """Discord forgets a nonce after some minutes; the question tells where to look."""
    question = dc.say("deploy?", channel=CHANNEL)
    async with opened(dc) as adapter:
        first = await adapter.send(part("a *yes*", reply_to=question))
    if not remembers:
        dc._world.channels[CHANNEL].nonces.clear()
    dc.say("a *yes*", channel=CHANNEL)
    async with opened(dc) as adapter:
        again = await adapter.send(part("a *yes*", reply_to=question, in_doubt=True))
    assert again.message == first.message
    assert len(texts(dc)) == 1


async def test_a_part_in_doubt_that_never_came_is_sent(dc: DiscordEmulator) -> None:
    question = dc.say("deploy?", channel=CHANNEL)
    dc.fail("history", 403, code=50001)
    async with opened(dc) as adapter:
        await adapter.send(part("yes", reply_to=question, in_doubt=True))
        await adapter.send(part("more", key="2", reply_to="interaction:5", in_doubt=True))
        await adapter.send(part("note", key="3", in_doubt=True))
    assert texts(dc) == ["yes", "more", "note"]


async def test_an_answer_survives_its_question(dc: DiscordEmulator) -> None:
    """H-36: all parts arrive once, without reference."""
    question = dc.say("deploy?", channel=CHANNEL)
    dc.delete(question, channel=CHANNEL)
    async with opened(dc) as adapter:
        receipts = [
            await adapter.send(part(f"{n}", key=f"{n}", reply_to=question)) for n in range(5)
        ]
    assert texts(dc) == ["0", "1", "2", "3", "4"]
    assert {receipt.degraded for receipt in receipts} == {("no-reply",)}


@pytest.mark.parametrize(
    ("code", "message"),
    [(10008, "Unknown Message"), (50035, "In message_reference: Unknown message")],
)
async def test_a_refused_reference_is_left_out_once(
    dc: DiscordEmulator, code: int, message: str
) -> None:
    """H-36."""
    question = dc.say("deploy?", channel=CHANNEL)
    dc.fail("send", 400, code=code, message=message)
    async with opened(dc) as adapter:
        receipt = await adapter.send(part("yes", reply_to=question))
    assert (texts(dc), receipt.degraded) == (["yes"], ("no-reply",))
    dc.fail("send", 400, code=code, message=message, times=5)
    assert (await refused(dc, part("no", key="2", reply_to=question))).code
    assert len(dc.calls_of("send")) == 4


async def test_waits_are_told_and_not_slept(dc: DiscordEmulator) -> None:
    """H-34: one chat pauses, before a second 429 comes of it; others do not."""
    other = dc.channel("902")
    dc.bucket("send", 2, 30.0)
    began = time.monotonic()
    async with opened(dc) as adapter:
        for number in range(2):
            await adapter.send(part("x", key=f"{number}"))
        with pytest.raises(RateLimitedError) as caught:
            await adapter.send(part("x", key="3"))
        await adapter.send(part("x", other))
    assert caught.value.retry_after == pytest.approx(30.0, abs=3)
    assert len(dc.calls_of("send")) == 3
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    ("scope", "via", "everywhere"),
    [
        ("user", True, False),
        ("shared", True, False),
        ("global", True, True),
        ("user", False, True),
    ],
)
async def test_a_429_is_obeyed(
    dc: DiscordEmulator, scope: str, *, via: bool, everywhere: bool
) -> None:
    """H-34: a global limit pauses all chats of the bot, and Cloudflare's the whole address."""
    other = dc.channel("902")
    dc.limit("send", 20.0, scope=scope, via=via)
    async with opened(dc) as adapter:
        with pytest.raises(RateLimitedError) as caught:
            await adapter.send(part("x"))
        assert caught.value.retry_after == pytest.approx(20.0)
        if everywhere:
            with pytest.raises(RateLimitedError) as caught:
                await adapter.send(part("x", other))
            assert caught.value.retry_after == pytest.approx(20.0, abs=3)
        else:
            await adapter.send(part("x", other))


async def test_a_person_who_blocked_the_bot_stops_nobody_else(dc: DiscordEmulator) -> None:
    """H-35."""
    ann, bob = dc.dm("42"), dc.dm("43")
    dc.block("42")
    async with opened(dc) as adapter:
        with pytest.raises(UnreachableError):
            await adapter.send(part("answer", ann))
        await adapter.send(part("answer", bob))
    assert len(dc.calls_of("send")) == 2
    assert texts(dc, bob) == ["answer"]


@pytest.mark.parametrize("trouble", ["unknown", "hidden", "locked"])
async def test_places_that_cannot_be_written_to(dc: DiscordEmulator, trouble: str) -> None:
    channel = "999"
    if trouble == "hidden":
        dc.hide(channel := CHANNEL)
    if trouble == "locked":
        channel = dc.thread()
        dc._world.channels[channel].facts["thread_metadata"]["locked"] = True
    assert isinstance(await refused(dc, part("x", channel)), UnreachableError)


@pytest.mark.parametrize(
    ("text", "code"), [("x" * 2001, "too_long"), ("", "empty"), (" \n\t", "empty")]
)
async def test_what_no_retry_can_cure(dc: DiscordEmulator, text: str, code: str) -> None:
    """H-33."""
    error = await refused(dc, part(text))
    assert (error.code, error.disposition) == (code, Disposition.GIVE_UP)
    assert texts(dc) == []


def dropped(dc: DiscordEmulator) -> None:
    dc.drop("send")


def page(dc: DiscordEmulator) -> None:
    dc.page("send", status=200)


def unavailable(dc: DiscordEmulator) -> None:
    dc.fail("send", 503)


@pytest.mark.parametrize("trouble", [dropped, page, unavailable])
async def test_whatever_leaves_it_open_is_ambiguous(
    dc: DiscordEmulator, trouble: Callable[[DiscordEmulator], None]
) -> None:
    trouble(dc)
    assert isinstance(await refused(dc, part("answer")), AmbiguousSendError)


async def test_a_slow_answer_is_not_waited_for_without_end(dc: DiscordEmulator) -> None:
    client = Client(TOKEN, AccountId(BOT), dc.api_base, patience=0.1)
    draft = Draft(PlaceId(CHANNEL), "answer", "nonce")
    await client.rest()
    dc.slow("send", 0.3)
    with pytest.raises(AmbiguousSendError):
        await client.send(draft)
    [message] = await dc.wait_for(1, channel=CHANNEL)
    assert (await client.send(draft)).message == message["id"]
    await client.aclose()
    assert texts(dc) == ["answer"]


async def test_what_never_left_is_tried_again(dc: DiscordEmulator) -> None:
    await dc.stop()
    error = await refused(dc, part("answer"))
    assert (type(error), error.disposition) == (PlatformError, Disposition.RETRY)


async def test_a_login_that_failed_is_tried_again(dc: DiscordEmulator) -> None:
    dc.fail("me", 503)
    async with opened(dc) as adapter:
        with pytest.raises(PlatformError) as caught:
            await adapter.send(part("answer"))
        assert caught.value.disposition is Disposition.RETRY
        await adapter.send(part("answer"))
    assert texts(dc) == ["answer"]


async def test_a_wrong_token_is_said(dc: DiscordEmulator) -> None:
    async with opened(dc, token=OTHER_TOKEN) as adapter:
        with pytest.raises(CredentialsError):
            await adapter.send(part("answer"))


async def test_a_foreign_bots_token_is_said(dc: DiscordEmulator) -> None:
    bot = dc.bot()
    bot.user["id"] = "112"
    async with opened(dc) as adapter:
        with pytest.raises(CredentialsError, match="bot 112"):
            await adapter.send(part("answer"))


async def test_typing_is_shown_and_never_swallowed(dc: DiscordEmulator) -> None:
    """H-56."""
    async with opened(dc) as adapter:
        await adapter.typing(address())
        dc.limit("typing", 9.0)
        with pytest.raises(RateLimitedError) as caught:
            await adapter.typing(address())
    assert caught.value.retry_after == 9.0
    assert [call.path["channel"] for call in dc.calls_of("typing")] == [CHANNEL] * 2


async def test_channels_are_written_to_at_the_same_time(dc: DiscordEmulator) -> None:
    channels = [dc.channel(str(number)) for number in range(1000, 1020)]
    dc.slow("send", 0.2, times=len(channels))
    async with opened(dc) as adapter, asyncio.timeout(2):
        await asyncio.gather(*(adapter.send(part("answer", each)) for each in channels))
    assert all(texts(dc, each) == ["answer"] for each in channels)


@pytest.mark.parametrize(
    "answer", ["😀" * 5000, "```py\n" + "x_y = '*'\n" * 400 + "```", "# Head\n" + "_*`<" * 900]
)
async def test_a_long_answer_arrives_whole(dc: DiscordEmulator, answer: str) -> None:
    pieces = split(parse(answer), limit=CAPABILITIES.max_length, size=size)
    async with opened(dc) as adapter:
        for number, piece in enumerate(pieces):
            await adapter.send(part(piece, key=f"{number}"))
    assert len(texts(dc)) == len(pieces) > 1


async def test_it_never_claims_to_have_looked_a_message_up(dc: DiscordEmulator) -> None:
    async with opened(dc) as adapter:
        assert isinstance(adapter, DiscordAdapter)
        with pytest.raises(PlatformError) as caught:
            await adapter.look_up(part("answer"))
    assert caught.value.disposition is Disposition.AMBIGUOUS


async def test_two_accounts_may_have_two_addresses(dc: DiscordEmulator) -> None:
    async with DiscordEmulator() as other:
        other.bot()
        other.channel()
        async with opened(dc) as one, opened(other) as two:
            await one.send(part("one"))
            await two.send(part("two"))
        seen: list[Any] = [texts(dc), texts(other)]
    assert seen == [["one"], ["two"]]
