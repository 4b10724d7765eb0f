"""Agents at a real service: the map of their peers, and sessions with a parent that listens."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import httpx
import pytest

import gateway.memory
from gateway.memory.clients import Endpoint
from gateway.memory.honcho import HonchoMemory
from gateway.memory.membership import INTRODUCED, Membership
from gateway.model.errors import MemoryRejectedError
from gateway.model.ids import LedgerKey, PeerId, SessionId
from gateway.model.memory import ContextQuery, MemoryMessage
from tests.emulators.honcho_proxy import HonchoProxy
from tests.fakes.clock import START, FakeClock
from tests.integration.memory.scribe import RULES, WORKSPACE, service

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

HERMES, SCOUT = PeerId("hermes"), PeerId("agent-scout")


class Workspace:
    """One workspace behind a proxy: a client of ours and a plain one."""

    def __init__(self, proxy: HonchoProxy, key: str) -> None:
        self.proxy = proxy
        self._endpoint = Endpoint(proxy.address, key, WORKSPACE)
        self.memory = HonchoMemory(lambda: self._endpoint, FakeClock())
        self.raw = httpx.AsyncClient(
            base_url=f"{proxy.address}/v3/workspaces/{WORKSPACE}/",
            headers={"Authorization": f"Bearer {key}"},
            trust_env=False,
        )

    async def flags(self, session: str, peer: str) -> dict[str, bool | None]:
        answer = await self.raw.get(f"sessions/{session}/peers/{peer}/config")
        return dict(answer.json())

    async def aclose(self) -> None:
        await self.raw.aclose()
        await self.memory.aclose()


@pytest.fixture
async def space(tmp_path: Path, template: Path) -> AsyncIterator[Workspace]:
    async with service(tmp_path, template) as served:
        url = await served.start()
        async with HonchoProxy(url) as proxy:
            made = Workspace(proxy, served.key)
            yield made
            await made.aclose()


async def test_a_sub_agent_works_and_its_parent_listens_in_silence(space: Workspace) -> None:
    await space.memory.register_agent("hermes", HERMES)
    opened = await gateway.memory.open_session(space.memory, agent="scout", parent="hermes")
    assert (opened.agent, opened.parent) == (SCOUT, HERMES)
    agent = await space.flags(opened.session, SCOUT)
    assert agent == {"observe_me": True, "observe_others": True}
    parent = await space.flags(opened.session, HERMES)
    assert parent == {"observe_me": False, "observe_others": True}
    assert await space.memory.agents() == {"hermes": HERMES, "scout": SCOUT}


async def test_the_parent_knows_what_was_said_there_and_nothing_is_known_of_it(
    space: Workspace,
) -> None:
    await space.memory.register_agent("hermes", HERMES)
    opened = await gateway.memory.open_session(space.memory, agent="scout", parent="hermes")
    said = MemoryMessage(LedgerKey("k1"), SCOUT, "I found the key under the mat.", START)
    await space.memory.add(opened.session, [said])
    about = ContextQuery(opened.session, target=SCOUT, perspective=HERMES)
    assert "under the mat" in (await space.memory.context(about)).representation
    own = ContextQuery(opened.session, target=HERMES, perspective=SCOUT)
    assert (await space.memory.context(own)).representation == ""


async def test_a_session_can_be_opened_again(space: Workspace) -> None:
    await space.memory.register_agent("hermes", HERMES)
    names = [
        await gateway.memory.open_session(
            space.memory, agent="scout", parent="hermes", session=SessionId("errand")
        )
        for _ in range(2)
    ]
    assert names[0] == names[1]
    assert names[0].session == "errand"


@pytest.mark.parametrize(("agent", "parent"), [("scout", "zeus"), ("hermes", "hermes")])
async def test_a_parent_must_be_known_and_another(
    space: Workspace, agent: str, parent: str
) -> None:
    await space.memory.register_agent("hermes", HERMES)
    with pytest.raises(MemoryRejectedError):
        await gateway.memory.open_session(space.memory, agent=agent, parent=parent)
    assert await space.memory.agents() == {"hermes": HERMES}


async def test_agents_whose_names_are_cleaned_alike_keep_peers_of_their_own(
    space: Workspace,
) -> None:
    await space.memory.register_agent("hermes", HERMES)
    opened = [
        await gateway.memory.open_session(space.memory, agent=name, parent="hermes")
        for name in ("scout a", "scout.a", "scout-a")
    ]
    assert len({each.agent for each in opened}) == 3


async def test_everything_else_in_the_metadata_stays(space: Workspace) -> None:
    theirs = {"theme": "dark", "agentPeerMap": {"old": "agent-old"}}
    await space.raw.put("", json={"metadata": theirs}, follow_redirects=True)
    await space.memory.register_agent("hermes", HERMES)
    answer = await space.raw.post(f"{space.proxy.address}/v3/workspaces", json={"id": WORKSPACE})
    assert answer.json()["metadata"] == {
        "theme": "dark",
        "agentPeerMap": {"old": "agent-old", "hermes": "hermes"},
    }


async def test_an_agent_that_another_overwrote_comes_back(space: Workspace) -> None:
    """Another process had read the map before and writes it after."""
    clock, rules = FakeClock(), replace(RULES, agent="scout", agent_peer=SCOUT)
    membership = Membership(clock, space.memory, lambda: rules)
    await membership.introduce()
    stale = {"metadata": {"agentPeerMap": {"hermes": "hermes"}}}
    await space.raw.put("", json=stale, follow_redirects=True)
    assert await space.memory.agents() == {"hermes": HERMES}
    await clock.advance(INTRODUCED)
    await membership.introduce()
    assert await space.memory.agents() == {"hermes": HERMES, "scout": SCOUT}


async def test_an_agent_introduces_itself_once_in_a_while(space: Workspace) -> None:
    clock = FakeClock()
    membership = Membership(clock, space.memory, lambda: RULES)
    await membership.introduce()
    asked = len(space.proxy.seen)
    await clock.advance(INTRODUCED - 1)
    await membership.introduce()
    assert len(space.proxy.seen) == asked
