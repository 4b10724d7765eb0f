"""The gateway as an unmodified discord.py client lives with it."""

from __future__ import annotations

import asyncio
import json
import zlib
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
import zstandard

from tests.emulators.discord import CHANNEL, TOKEN, DiscordEmulator, make_token
from tests.integration.emulators.discord_bot import connected, discord

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable


@pytest.fixture
async def dc() -> AsyncIterator[DiscordEmulator]:
    async with DiscordEmulator() as emulator:
        emulator.bot()
        emulator.channel()
        yield emulator


async def test_every_kind_of_event_is_understood(dc: DiscordEmulator) -> None:
    async with connected(dc) as bot:
        question = dc.say("<@111> deploy?", channel=CHANNEL)
        dc.say("yes", channel=CHANNEL, reply_to=question)
        dc.say("in the thread", channel=dc.thread())
        dc.forward(question, channel=CHANNEL)
        dc.webhook("from CI")
        dc.bot_say("beep")
        file = dc.file("a.png", b"png", content_type="image/png")
        dc.say("a file", channel=CHANNEL, attachments=[file])
        dc.say("direct")
        await bot.heard(8)
        dc.edit(question, "<@111> deploy now", channel=CHANNEL)
        dc.unfurl(question, channel=CHANNEL)
        dc.press("ask", channel=CHANNEL, options=[{"name": "q", "type": 3, "value": "hi"}])
        dc.delete(question, channel=CHANNEL)
        async with asyncio.timeout(5):
            while not bot.interactions:  # noqa: ASYNC110  (no event to await)
                await asyncio.sleep(0.002)
        first, reply, threaded, forwarded, hook, other, filed, direct = bot.said
        assert first.mentions == [bot.user]
        assert reply.reference is not None
        assert reply.reference.message_id == first.id
        assert isinstance(threaded.channel, discord.Thread)
        assert threaded.channel.parent_id == int(CHANNEL)
        assert forwarded.message_snapshots[0].content == "<@111> deploy?"
        assert (hook.webhook_id, other.author.bot) == (666, True)
        assert await filed.attachments[0].read() == b"png"
        assert isinstance(direct.channel, discord.DMChannel)
        assert [edit.data.get("embeds") for edit in bot.edits] == [[], bot.edits[1].data["embeds"]]
        [pressed] = bot.interactions
        await pressed.response.defer(ephemeral=True)
        await pressed.delete_original_response()


async def test_what_a_lost_connection_missed_is_replayed(dc: DiscordEmulator) -> None:
    async with connected(dc) as bot:
        for count, trouble in enumerate((dc.cut, lambda: dc.cut(1001), dc.reconnect), 1):
            trouble()
            dc.say("meanwhile")
            assert await bot.heard(count) == ["meanwhile"] * count
            await bot.told(["ready", *["resumed"] * count])
        dc.duplicate()
        assert len(await bot.heard(4)) == 4


async def test_a_killed_session_loses_what_came_between(dc: DiscordEmulator) -> None:
    async with connected(dc) as bot:
        dc.kill_sessions()
        dc.say("lost")
        await dc.connected()
        dc.say("heard")
        assert await bot.heard(1) == ["heard"]
        await bot.told(["ready", "ready"])


async def test_tokens_and_intents_are_judged(dc: DiscordEmulator) -> None:
    with pytest.raises(discord.LoginFailure):
        async with connected(dc, make_token("999")):
            pass
    dc.bot().intents_denied = True
    with pytest.raises(discord.PrivilegedIntentsRequired):
        async with connected(dc):
            pass
    dc.bot().intents_denied = False
    async with connected(dc) as bot:
        dc.revoke()
        async with asyncio.timeout(5):
            while not bot.is_closed():  # noqa: ASYNC110  (no event to await)
                await asyncio.sleep(0.002)


async def test_the_first_connection_may_be_refused(dc: DiscordEmulator) -> None:
    """Rapptz/discord.py of today dies of it, which is why the adapter connects by itself."""
    dc.fail("ws", 503)
    with pytest.raises(AttributeError):
        async with connected(dc):
            pass


async def test_a_malformed_event_kills_the_librarys_client(dc: DiscordEmulator) -> None:
    """Which is why the adapter reads events by itself."""
    with pytest.raises(KeyError):
        await poisoned(dc)


async def poisoned(dc: DiscordEmulator) -> None:
    async with connected(dc) as bot:
        dc.dispatch("MESSAGE_CREATE", {"id": "1"})
        dc.say("never heard")
        await asyncio.sleep(0.05)
        assert bot.said == []


# --- the wire itself ------------------------------------------------------------------------


def plain() -> Callable[[Any], str]:
    return str


def zstd() -> Callable[[Any], str]:
    stream = zstandard.ZstdDecompressor().decompressobj()
    return lambda data: stream.decompress(data).decode()


def zlib_stream() -> Callable[[Any], str]:
    stream = zlib.decompressobj()
    return lambda data: stream.decompress(data).decode()


@pytest.mark.parametrize(
    ("compress", "reader"), [("", plain), ("zstd-stream", zstd), ("zlib-stream", zlib_stream)]
)
async def test_all_compressions(
    dc: DiscordEmulator, compress: str, reader: Callable[[], Callable[[Any], str]]
) -> None:
    read = reader()
    async with aiohttp.ClientSession() as session:
        query = {"v": "10", "encoding": "json", "compress": compress}
        async with session.ws_connect(dc.gateway_url, params=query) as socket:
            hello = json.loads(read((await socket.receive()).data))
            assert (hello["op"], hello["d"]["heartbeat_interval"]) == (10, 41_250)
            await socket.send_json({"op": 1, "d": None})
            assert json.loads(read((await socket.receive()).data))["op"] == 11
            dc.mute()
            await socket.send_json({"op": 1, "d": None})
            await socket.send_json({"op": 2, "d": {"token": TOKEN, "intents": 1 << 9}})
            ready = json.loads(read((await socket.receive()).data))
            assert (ready["t"], ready["s"]) == ("READY", 1)
            assert ready["d"]["resume_gateway_url"].startswith("ws://127.0.0.1:")
            guild = json.loads(read((await socket.receive()).data))
            assert guild["t"] == "GUILD_CREATE"
            dc.say("not for these intents")
            dc.say("hidden words", channel=CHANNEL)
            dc.say("<@111> words", channel=CHANNEL)
            shown = [json.loads(read((await socket.receive()).data))["d"] for _ in range(2)]
            assert [one["content"] for one in shown] == ["", "<@111> words"]


async def test_a_wrong_token_closes_the_connection(dc: DiscordEmulator) -> None:
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(dc.gateway_url) as socket,
    ):
        await socket.receive()
        await socket.send_json({"op": 2, "d": {"token": "no", "intents": 0}})
        assert (await socket.receive()).type is aiohttp.WSMsgType.CLOSE
        assert socket.close_code == 4004


async def test_a_foreign_session_cannot_be_resumed(dc: DiscordEmulator) -> None:
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(dc.gateway_url) as socket,
    ):
        await socket.receive()
        await socket.send_json({"op": 6, "d": {"token": TOKEN, "session_id": "no", "seq": 1}})
        assert await socket.receive_json() == {"op": 9, "d": False}
