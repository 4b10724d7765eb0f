"""A whole gateway on the emulated Slack: one answer to each message, whatever happens."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import asynccontextmanager, closing
from typing import TYPE_CHECKING, Any

import pytest

from gateway import app
from gateway.settings.home import Home
from tests.emulators.slack import APP_TOKEN, CHANNEL, TEAM, TOKEN, USER
from tests.fakes.agent import ScriptedAgent
from tests.integration.slack.support import DM, OTHER_TOKEN, until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.emulators.slack import SlackEmulator

STRANGER = "U0STRANGE1"


class House:
    """One home on disk, started as often as a test likes, with Slack outside."""

    def __init__(self, folder: Path, slack: SlackEmulator) -> None:
        self.home = Home(folder / "hermes", folder / "user")
        self.slack = slack
        self.agent = ScriptedAgent()
        self.home.path.mkdir(parents=True)
        self.home.user.mkdir()
        self.configure()

    def configure(self, *, token: str = TOKEN, **slack: Any) -> None:
        """Write .env and config.yaml: one person is allowed, one channel is served."""
        self.home.env.write_text(f"SLACK_BOT_TOKEN={token}\nSLACK_APP_TOKEN={APP_TOKEN}\n")
        self.home.env.chmod(0o600)
        config = {
            "access": {"allow": {"slack": [f"{TEAM}:{USER}"]}, "places": {"slack": [CHANNEL]}},
            "platforms": {"slack": {"base_url": self.slack.base_url, **slack}},
            "web": {"enabled": False},
        }
        self.home.config.write_text(json.dumps(config))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[app.Gateway]:
        """Run a gateway for as long as the block, then stop it as SIGTERM does."""
        loaded = app.load(self.home, {})
        start = app.Start(self.home, loaded, lambda _tools: self.agent)
        gateway, stop = app.assemble(start), asyncio.Event()
        run = asyncio.create_task(gateway.run(stop))
        try:
            await self.slack.wait_for_sockets()
            yield gateway
        finally:
            stop.set()
            await asyncio.wait_for(run, 15)

    def rows(self, query: str) -> list[Any]:
        """Return what the database holds."""
        with closing(sqlite3.connect(self.home.database)) as conn:
            return conn.execute(query).fetchall()


@pytest.fixture
def house(tmp_path: Path, slack: SlackEmulator) -> House:
    return House(tmp_path, slack)


async def test_a_mention_gets_one_answer_in_its_thread(house: House) -> None:
    """H-16."""
    async with house.running():
        root = house.slack.mention("deploy")
        [answer] = await house.slack.wait_for(1, channel=CHANNEL)
        house.slack.thread("<@U0BROOK001> and now?", root)
        await house.slack.wait_for(2, channel=CHANNEL)
        await house.slack.wait_until_acked()
    assert (answer["text"], answer["thread_ts"]) == ("re: deploy", root)
    assert [message["thread_ts"] for message in house.slack.answers(CHANNEL)] == [root, root]
    assert house.agent.runs[1].history == ["deploy", "re: deploy"]


async def test_only_who_is_allowed_and_who_speaks_to_it(house: House) -> None:
    """H-18, H-40, H-43: no turn for strangers, other bots, its own echo, edits, previews."""
    slack = house.slack
    async with house.running():
        ts = slack.say("hello")
        await slack.wait_for(1)
        slack.unfurl(DM, ts)
        slack.edit(DM, ts, "hello again")
        slack.delete(DM, ts)
        slack.bot_say("<@U0BROOK001> beep")
        slack.say("not to the bot", channel=CHANNEL)
        slack.mention("let me in", user=STRANGER)
        slack.mention("elsewhere", channel="C0OTHER0001")
        await slack.wait_until_acked()
        slack.say("last")
        await slack.wait_for(2)
    assert [run.texts for run in house.agent.runs] == [["hello"], ["last"]]


async def test_a_lost_answer_is_one_message(house: House) -> None:
    slack = house.slack
    slack.lose("chat.postMessage")
    async with house.running():
        slack.say("hello")
        await until(lambda: house.rows("select state from outbox") == [("delivered",)], 10)
    assert [message["text"] for message in slack.answers(DM)] == ["re: hello"]


async def test_what_was_said_meanwhile_is_answered_once(house: House) -> None:
    """H-57."""
    slack = house.slack
    async with house.running():
        slack.say("one")
        await slack.wait_for(1)
    slack.delivery.ack_seconds = 0.001
    slack.delivery.retry_seconds = ()
    slack.say("two")
    await slack.wait_until_acked()
    slack.delivery.ack_seconds = 0.5
    async with house.running():
        await slack.wait_for(2)
        slack.say("three")
        await slack.wait_for(3)
    texts = [message["text"] for message in slack.answers(DM)]
    assert texts == ["re: one", "re: two", "re: three"]


async def test_nobody_is_pinged_by_the_model(house: House) -> None:
    """H-32."""
    house.agent.replies.append("<!channel> done <!here> <@U0MIRA0001>")
    async with house.running():
        house.slack.say("hello")
        [answer] = await house.slack.wait_for(1)
    assert answer["text"] == "&lt;!channel&gt; done &lt;!here&gt; &lt;@U0MIRA0001&gt;"


async def test_a_command_behind_the_mention(house: House) -> None:
    """H-45."""
    async with house.running():
        house.slack.mention("/whoami")
        [answer] = await house.slack.wait_for(1, channel=CHANNEL)
    assert house.agent.runs == []
    assert USER in answer["text"]


@pytest.mark.parametrize(
    ("settings", "peer"),
    [({}, USER), ({"bare_team": "T0OTHER001"}, f"slack_{TEAM}_{USER}")],
)
async def test_ids_of_the_first_team_stand_bare(
    house: House, settings: dict[str, str], peer: str
) -> None:
    """H-09."""
    house.configure(**settings)
    async with house.running():
        house.slack.say("hello")
        await house.slack.wait_for(1)
    assert house.rows("select peer from turn") == [(peer,)]


async def test_the_second_team_is_told_apart(house: House) -> None:
    """H-09: the same user id in two teams is two people."""
    slack = house.slack
    async with house.running():
        pass
    slack.bot(OTHER_TOKEN, team="T0BETA0002", user="U0BROOK002", bot_id="B0BROOK002")
    house.configure(token=f"{OTHER_TOKEN},{TOKEN}")
    config = json.loads(house.home.config.read_text())
    config["access"]["allow_all"] = {"slack": True}
    house.home.config.write_text(json.dumps(config))
    async with house.running():
        slack.say("one")
        slack.say("two", team="T0BETA0002", channel="D0SAME0002")
        await slack.wait_for(1)
        await slack.wait_for(1, channel="D0SAME0002")
    assert set(house.rows("select peer from turn")) == {(USER,), (f"slack_T0BETA0002_{USER}",)}


async def test_long_answers_become_editable_parts(house: House) -> None:
    fence = "```py\n" + "\n".join(f"value = {number}" for number in range(400)) + "\n```"
    house.agent.replies.append("😀" * 5000 + "\n\n" + fence)
    async with house.running():
        house.slack.say("hello")
        texts = [
            m["text"]
            for m in await house.slack.wait_for(lambda a: "399" in a[-1]["text"] if a else False)
        ]
    assert len(house.agent.runs) == 1
    assert all(len(text.encode()) <= 3800 and text.count("```") % 2 == 0 for text in texts)
    assert sum(text.count("😀") for text in texts) == 5000


async def test_a_look_up_that_is_refused_leaves_the_part_in_doubt(house: House) -> None:
    """The answer stands there; asked too early for it, the gateway must not post it again."""
    async with house.running():
        house.slack.lose("chat.postMessage")
        house.slack.rate_limit("conversations.history", 1)
        house.slack.say("hello")
        await until(lambda: house.rows("SELECT state FROM outbox") == [("delivered",)])
        house.slack.say("again")
        await house.slack.wait_for(2)
    assert [message["text"] for message in house.slack.answers(DM)] == ["re: hello", "re: again"]
    assert house.slack.calls_of("conversations.history")
