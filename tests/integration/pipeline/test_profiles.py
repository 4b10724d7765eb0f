"""Two profiles' gateways side by side: nothing is shared but the folder they lie in."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from gateway.settings.home import make_private_folder
from gateway.store.lock import ProcessLock
from tests.fakes.agent import ScriptedAgent
from tests.fakes.household import MIRA, OTHER_TOKEN, TOKEN
from tests.integration.pipeline.support import House, user_rows

if TYPE_CHECKING:
    from pathlib import Path

    from tests.emulators.telegram import TelegramEmulator


@pytest.fixture
def work(house: House, tmp_path: Path, tg: TelegramEmulator, empty_database: Path) -> House:
    """A profile beside ``house``, with a bot of its own and one file of memory settings."""
    tg.bot(OTHER_TOKEN, username="work_bot", name="Work")
    beside = House(tmp_path / "beside", tg, ScriptedAgent())
    beside.home = house.home.of("work")
    make_private_folder(beside.home.gateway)
    beside.tokens(OTHER_TOKEN)
    beside.configure()
    shutil.copy(empty_database, beside.home.database)
    blocks = {"hermes": {"peerName": "mira"}, "hermes_work": {"peerName": "mira"}}
    house.honcho(hosts=blocks, userPeerAliases={str(MIRA): "mira"})
    return beside


async def test_each_has_its_own_bot_agent_and_memory(house: House, work: House) -> None:
    async with house.running() as first, work.running() as second:
        assert ProcessLock(house.home.lock).holder() is not None
        assert ProcessLock(work.home.lock).holder() is not None
        house.tg.say("to the first", user=MIRA)
        house.tg.say("to the second", user=MIRA, bot=OTHER_TOKEN)
        await house.answers(1)
        await work.answers(1, bot=OTHER_TOKEN)
        await house.settled()
        await work.settled()
        agents = (first.current.rules.agent_peer, second.current.rules.agent_peer)
    assert agents == ("hermes", "hermes_work")
    assert user_rows(house) == [("mira", "to the first")]
    assert user_rows(work) == [("mira", "to the second")]
    (here,), (there,) = house.sessions(), work.sessions()
    assert here[0] != there[0]
    assert [row[0].partition(":")[0] for row in work.rows("SELECT key FROM conversation")] == [
        "work"
    ]
    assert TOKEN not in json.dumps(work.rows("SELECT * FROM fact"))


async def test_a_reload_keeps_the_profile_whatever_a_copied_line_says(
    house: House, work: House
) -> None:
    async with work.running() as gateway:
        work.tg.say("up?", user=MIRA, bot=OTHER_TOKEN)
        await work.answers(1, bot=OTHER_TOKEN)
        before = gateway.current.rules
        work.configure(profile="default", language="ru")
        await work.until(lambda: gateway.current.rules is not before, "reload", timeout=5.0)
        rules = gateway.current.rules
    assert (rules.language, rules.profile, rules.agent_peer) == ("ru", "work", "hermes_work")
    assert house.home.profile == "default"
