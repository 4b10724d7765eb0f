"""The whole gateway on the emulated Discord: real store and engine, a scripted agent."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from gateway import app
from gateway.ports import ConnectionState
from gateway.settings.home import Home
from tests.emulators.discord import CHANNEL, TOKEN, USER
from tests.fakes.agent import ScriptedAgent
from tests.integration.discord.support import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.emulators.discord import DiscordEmulator

STRANGER = "43"


class House:
    """One home on disk, started as often as a test likes, with Discord outside."""

    def __init__(self, folder: Path, dc: DiscordEmulator) -> None:
        self.home = Home(folder / "hermes", folder / "user")
        self.home.path.mkdir(parents=True)
        self.home.user.mkdir()
        self.home.env.write_text(f"DISCORD_BOT_TOKEN={TOKEN}\n")
        self.home.env.chmod(0o600)
        addresses = {"api_base": dc.api_base, "gateway_url": dc.gateway_url}
        config = {
            "access": {
                "allow": {"discord": [USER]},
                "places": {"discord": [CHANNEL]},
                "pairing": False,
            },
            "platforms": {"discord": addresses},
            "web": {"enabled": False},
        }
        self.home.config.write_text(json.dumps(config))
        self.agent = ScriptedAgent()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run the gateway for as long as the block, then stop it as SIGTERM does."""
        gateway = app.assemble(
            app.Start(self.home, app.load(self.home, {}), lambda _tools: self.agent)
        )
        stop = asyncio.Event()
        run = asyncio.create_task(gateway.run(stop))
        try:
            [adapter] = gateway.adapters
            await until(lambda: adapter.status.state is ConnectionState.CONNECTED)
            yield
        finally:
            stop.set()
            await asyncio.wait_for(run, 15)


@pytest.fixture
def house(tmp_path: Path, dc: DiscordEmulator) -> House:
    return House(tmp_path, dc)


def said(dc: DiscordEmulator, channel: str | None = CHANNEL) -> list[Any]:
    return [message["content"] for message in dc.answers(channel)]


async def test_people_are_answered_where_they_ask(dc: DiscordEmulator, house: House) -> None:
    """H-26, H-32: direct, in a listed channel and in its threads; nobody is pinged."""
    async with house.running():
        thread = dc.thread()
        dc.say("hello @everyone")
        question = dc.say("<@111> deploy?", channel=CHANNEL)
        dc.say("<@111> and here?", channel=thread)
        await dc.wait_for(1)
        await dc.wait_for(1, channel=CHANNEL)
        await dc.wait_for(1, channel=thread)
    assert said(dc, None) == ["re: hello @everyone"]
    assert said(dc) == ["re: deploy?"]
    assert said(dc, thread) == ["re: and here?"]
    [answer] = dc.answers(CHANNEL)
    assert answer["message_reference"]["message_id"] == question
    assert not dc.answers(None)[0]["mention_everyone"]


async def test_nobody_else_is(dc: DiscordEmulator, house: House) -> None:
    """H-11, H-33, H-40, H-43."""
    elsewhere = dc.channel("902")
    async with house.running():
        dc.say("<@111> let me in", user=STRANGER, channel=CHANNEL)
        dc.say("let me in", user=STRANGER)
        dc.say("<@111> not served", channel=elsewhere)
        dc.say("<@111> not served", channel=dc.thread(parent=elsewhere))
        dc.say("not to the bot", channel=CHANNEL)
        dc.webhook("<@111> hook")
        dc.bot_say("<@111> bot")
        edited = dc.say("see https://example.org", channel=CHANNEL)
        dc.unfurl(edited, channel=CHANNEL)
        dc.edit(edited, "<@111> changed my mind", channel=CHANNEL)
        dc.say("<@111> end", channel=CHANNEL)
        await dc.wait_for(1, channel=CHANNEL)
    assert [run.texts for run in house.agent.runs] == [["end"]]


async def test_what_was_said_while_away_is_answered_once(
    dc: DiscordEmulator, house: House
) -> None:
    """H-17, H-57: over a killed session and over a restart."""
    async with house.running():
        dc.say("<@111> one", channel=CHANNEL)
        await dc.wait_for(1, channel=CHANNEL)
        dc.kill_sessions()
        dc.say("<@111> two", channel=CHANNEL)
        await dc.wait_for(2, channel=CHANNEL, timeout=20)
    dc.say("<@111> three", channel=CHANNEL)
    dc.say("four", user=USER)
    async with house.running():
        await dc.wait_for(3, channel=CHANNEL)
        dc.duplicate()
        dc.say("<@111> five", channel=CHANNEL)
        await dc.wait_for(4, channel=CHANNEL)
    assert said(dc) == ["re: one", "re: two", "re: three", "re: five"]


async def test_a_lost_answer_stands_once(dc: DiscordEmulator, house: House) -> None:
    async with house.running():
        dc.lose("send")
        dc.say("<@111> hello", channel=CHANNEL)
        await dc.wait_for_calls("history", timeout=10)
        dc.say("<@111> again", channel=CHANNEL)
        await dc.wait_for(2, channel=CHANNEL)
    assert said(dc) == ["re: hello", "re: again"]


async def test_a_preview_is_seen_and_then_gone(dc: DiscordEmulator, house: House) -> None:
    house.agent.partial = ["I think ", "so"]
    house.agent.hold()
    async with house.running():
        dc.say("<@111> hello", channel=CHANNEL)
        [shown] = await dc.wait_for(1, channel=CHANNEL)
        assert shown["content"].startswith("I think so")
        house.agent.release()
        await dc.wait_for_calls("delete")
        await dc.wait_for(
            lambda answers: [one["id"] for one in answers] != [shown["id"]], channel=CHANNEL
        )
    [answer] = said(dc)
    assert answer.endswith("re: hello")


async def test_a_command_of_the_menu_is_answered(dc: DiscordEmulator, house: House) -> None:
    async with house.running():
        pressed = dc.press("whoami")
        await dc.wait_for(1)
        await dc.wait_for_calls("unrespond")
    assert dc.interaction(pressed).deleted
    assert house.agent.runs == []
