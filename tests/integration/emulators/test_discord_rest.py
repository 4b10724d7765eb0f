"""The REST API as an unmodified discord.py client lives with it."""

from __future__ import annotations

import asyncio
import io
import time
from typing import TYPE_CHECKING

import aiohttp
import pytest

from tests.emulators.discord import CHANNEL, GUILD, DiscordEmulator
from tests.integration.emulators.discord_bot import Bot, connected, discord

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@pytest.fixture
async def dc() -> AsyncIterator[DiscordEmulator]:
    async with DiscordEmulator() as emulator:
        emulator.bot()
        emulator.channel()
        yield emulator


@pytest.fixture
async def bot(dc: DiscordEmulator) -> AsyncIterator[Bot]:
    async with connected(dc) as client:
        yield client


def general(bot: Bot) -> discord.TextChannel:
    channel = bot.get_channel(int(CHANNEL))
    assert isinstance(channel, discord.TextChannel)
    return channel


async def test_a_message_lives(dc: DiscordEmulator, bot: Bot) -> None:
    question = dc.say("deploy?", channel=CHANNEL)
    await bot.heard(1)
    sent = await bot.said[0].reply("yes")
    assert sent.reference is not None
    assert sent.reference.message_id == int(question)
    changed = await sent.edit(content="no")
    assert (changed.content, changed.edited_at is not None) == ("no", True)
    await sent.add_reaction("👍")
    assert dc.answers(CHANNEL)[0]["reactions"][0]["emoji"]["name"] == "👍"
    async with general(bot).typing():
        pass
    assert [one.content async for one in general(bot).history()] == ["no", "deploy?"]
    await sent.delete()
    assert dc.answers(CHANNEL) == []


async def test_own_messages_come_back(dc: DiscordEmulator, bot: Bot) -> None:
    await general(bot).send("own words")
    async with asyncio.timeout(5):
        while not bot.said:  # noqa: ASYNC110  (no event to await)
            await asyncio.sleep(0.002)
    assert bot.said[0].author == bot.user
    assert len(dc.answers(CHANNEL)) == 1


async def test_the_same_nonce_is_the_same_message(dc: DiscordEmulator, bot: Bot) -> None:
    first = await general(bot).send("once", nonce="n1")
    again = await general(bot).send("once", nonce="n1")
    other = await general(bot).send("once", nonce="n2")
    assert first.id == again.id != other.id
    assert len(dc.answers(CHANNEL)) == 2


async def test_only_allowed_mentions_ping(dc: DiscordEmulator, bot: Bot) -> None:
    text = "@everyone <@42> <@&7>"
    await general(bot).send(text)
    await general(bot).send(text, allowed_mentions=discord.AllowedMentions.all())
    quiet, loud = dc.answers(CHANNEL)
    assert (quiet["mention_everyone"], quiet["mentions"], quiet["mention_roles"]) == (
        False,
        [],
        [],
    )
    assert (loud["mention_everyone"], loud["mention_roles"]) == (True, ["7"])
    assert [user["id"] for user in loud["mentions"]] == ["42"]


async def test_history_goes_both_ways(dc: DiscordEmulator, bot: Bot) -> None:
    ids = [int(dc.say(f"{number}", channel=CHANNEL)) for number in range(120)]
    channel = general(bot)
    after = [one.id async for one in channel.history(after=discord.Object(ids[9]), limit=None)]
    assert after == ids[10:]
    before = [one.id async for one in channel.history(before=discord.Object(ids[5]))]
    assert before == ids[4::-1]


async def test_files_are_served_under_signed_addresses(dc: DiscordEmulator, bot: Bot) -> None:
    sent = await general(bot).send(file=discord.File(io.BytesIO(b"hello"), "a.txt"))
    [file] = sent.attachments
    assert await file.read() == b"hello"
    async with aiohttp.ClientSession() as session:
        answer = await session.get(file.url.partition("?")[0])
        assert answer.status == 404


async def test_threads_and_direct_channels(dc: DiscordEmulator, bot: Bot) -> None:
    sent = await general(bot).send("root")
    thread = await sent.create_thread(name="topic")
    await thread.send("inside")
    assert [one["content"] for one in dc.messages(str(thread.id))] == ["inside"]
    opened = await bot.http.start_private_message(42)
    assert opened["id"] == dc.dm("42")
    dc.grant("42", "5")
    member = await bot.http.get_member(int(GUILD), 42)
    assert member["roles"] == ["5"]


@pytest.mark.parametrize(("text", "code"), [("x" * 2001, 50035), ("", 50006), ("  ", 50006)])
async def test_what_cannot_be_a_message(bot: Bot, text: str, code: int) -> None:
    with pytest.raises(discord.HTTPException) as caught:
        await general(bot).send(text)
    assert caught.value.code == code


async def test_two_thousand_characters_are_code_points(dc: DiscordEmulator, bot: Bot) -> None:
    await general(bot).send("😀" * 2000)
    assert len(dc.answers(CHANNEL)) == 1


async def test_refusals(dc: DiscordEmulator, bot: Bot) -> None:
    async def code(partial: discord.PartialMessageable, **options: object) -> int:
        with pytest.raises(discord.HTTPException) as caught:
            await partial.send("x", **options)  # type: ignore[call-overload]  # any option
        return int(caught.value.code)

    gone = discord.MessageReference(message_id=5, channel_id=int(CHANNEL))
    assert await code(bot.get_partial_messageable(999)) == 10003
    assert await code(bot.get_partial_messageable(int(CHANNEL)), reference=gone) == 50035
    dc.block("42")
    assert await code(bot.get_partial_messageable(int(dc.dm("42")))) == 50007
    thread = dc.thread()
    dc._world.channels[thread].facts["thread_metadata"]["locked"] = True
    assert await code(bot.get_partial_messageable(int(thread))) == 160005
    dc.hide(CHANNEL)
    assert await code(bot.get_partial_messageable(int(CHANNEL))) == 50001
    with pytest.raises(discord.NotFound):
        await bot.get_partial_messageable(int(dc.dm("43"))).fetch_message(5)


async def test_a_foreign_message_cannot_be_edited(dc: DiscordEmulator, bot: Bot) -> None:
    said = dc.say("mine", channel=CHANNEL)
    with pytest.raises(discord.Forbidden) as caught:
        await general(bot).get_partial_message(int(said)).edit(content="yours")
    assert caught.value.code == 50005


async def test_buckets_are_told_before_they_refuse(dc: DiscordEmulator, bot: Bot) -> None:
    dc.bucket("send", 2, 0.4)
    began = time.monotonic()
    for _ in range(3):
        await general(bot).send("x")
    assert time.monotonic() - began >= 0.35
    assert all(call.status == 200 for call in dc.calls_of("send"))


async def test_429_with_and_without_discords_mark(dc: DiscordEmulator, bot: Bot) -> None:
    dc.limit("send", 0.1)
    await general(bot).send("x")
    assert [call.status for call in dc.calls_of("send")] == [429, 200]
    dc.limit("send", 0.1, via=False)
    with pytest.raises(discord.HTTPException) as caught:
        await general(bot).send("x")
    assert caught.value.status == 429


async def test_broken_answers(dc: DiscordEmulator, bot: Bot) -> None:
    dc.drop("send")
    with pytest.raises(aiohttp.ServerDisconnectedError):
        await general(bot).send("never")
    dc.lose("send")
    with pytest.raises(aiohttp.ServerDisconnectedError):
        await general(bot).send("lost")
    assert [one["content"] for one in await dc.wait_for(1, channel=CHANNEL)] == ["lost"]
    dc.fail("send", 403, code=50013, channel=CHANNEL)
    with pytest.raises(discord.Forbidden):
        await general(bot).send("refused")
    dc.page("send", status=404)
    with pytest.raises(discord.NotFound):
        await general(bot).send("page")


async def test_a_slow_send_happens_although_the_client_gave_up(
    dc: DiscordEmulator, bot: Bot
) -> None:
    dc.slow("send", 0.1)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(general(bot).send("x"), 0.03)
    await dc.wait_for(1, channel=CHANNEL)


async def test_down_and_back_on_the_same_port(dc: DiscordEmulator, bot: Bot) -> None:
    address = dc.address
    outage = asyncio.create_task(dc.down(0.05))
    await asyncio.sleep(0.02)
    with pytest.raises(aiohttp.ClientConnectorError):
        await general(bot).send("x")
    await outage
    assert dc.address == address
    await general(bot).send("y")


async def test_waiting_says_what_came(dc: DiscordEmulator) -> None:
    with pytest.raises(TimeoutError, match="0 answers"):
        await dc.wait_for(2, timeout=0.01)
    with pytest.raises(TimeoutError, match="0 requests of edit"):
        await dc.wait_for_calls("edit", timeout=0.01)
    with pytest.raises(TimeoutError, match="0 live sessions"):
        await dc.connected(timeout=0.01)
