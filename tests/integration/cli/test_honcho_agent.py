"""``honcho identity`` and ``honcho peers``: against a real memory service."""

from __future__ import annotations

import asyncio
import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from gateway.memory.clients import Endpoint
from gateway.memory.honcho import HonchoMemory
from gateway.memory.seed import seed_session
from gateway.model.ids import PeerId
from tests.fakes.clock import FakeClock
from tests.integration.cli.calls import data, run
from tests.integration.memory.conftest import template as template
from tests.integration.memory.scribe import service

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from gateway.settings.home import Home

AGENT = PeerId("hermes")


class Server:
    """A service and the home that uses it; commands run beside the loop that serves."""

    def __init__(self, home: Home, url: str, key: str) -> None:
        self.home = home
        self.memory = HonchoMemory(lambda: Endpoint(url, key, "house"), FakeClock())
        home.config.write_text("memory: {provider: honcho}\n")
        self.write(baseUrl=url, apiKey=key, workspace="house")

    def write(self, **keys: Any) -> None:
        (self.home.path / "honcho.json").write_text(json.dumps(keys))

    async def run(self, *words: str, code: int = 0) -> str:
        return await asyncio.to_thread(run, *words, code=code)

    async def data(self, *words: str) -> Any:
        return await asyncio.to_thread(data, *words)

    async def seeds(self) -> list[str]:
        """Return what the agent's session holds."""
        found = await self.memory.search("rover", peer=None, session=self.session, limit=9)
        return [one.text for one in found]

    @property
    def session(self) -> Any:
        return seed_session("hermes", AGENT)


@pytest.fixture
async def server(home: Home, tmp_path: Path, template: Path) -> AsyncIterator[Server]:
    shutil.copy(template, home.database)
    async with service(tmp_path, template) as served:
        made = Server(home, await served.start(), served.key)
        yield made
        await made.memory.aclose()


async def test_a_file_is_seeded_once_and_shown(server: Server) -> None:
    (server.home.path / "WHO.md").write_text("I am a rover.\n")
    file = str(server.home.path / "WHO.md")
    told = await server.run("honcho", "identity", file)
    assert "hermes has WHO.md: 1 part(s)" in told
    done = await server.data("honcho", "identity", file)
    assert done == {
        "file": "WHO.md",
        "peer": "hermes",
        "session": server.session,
        "workspace": "house",
        "parts": 1,
    }
    (text,) = await server.seeds()
    assert text == (
        "<ai_identity_seed>\n<source>WHO.md</source>\n\nI am a rover.\n</ai_identity_seed>"
    )
    await server.memory.set_card(AGENT, AGENT, ["Rolls about"])
    found = await server.data("honcho", "identity", "--show")
    assert (found["peer"], found["card"]) == ("hermes", ["Rolls about"])
    assert [one["file"] for one in found["seeded"]] == ["WHO.md"]
    assert "Rolls about" in await server.run("honcho", "identity")


async def test_a_file_that_says_nothing_is_refused(server: Server) -> None:
    (server.home.path / "EMPTY.md").write_text(" \n")
    for name in ("EMPTY.md", "MISSING.md"):
        told = await server.run("honcho", "identity", str(server.home.path / name), code=2)
        assert "name a file with text" in told
    assert "not both" in await server.run("honcho", "identity", "x.md", "--show", code=2)
    await server.run("honcho", "mode", "--agent", "local")
    told = await server.run("honcho", "identity", "x.md", code=2)
    assert "agentMemoryMode says that nothing" in told
    assert await server.seeds() == []


async def test_who_the_agents_are_over_all_profiles(server: Server) -> None:
    await server.run("profile", "create", "work")
    await server.memory.register_agent("hermes", AGENT)
    found = await server.data("honcho", "peers")
    assert [(one["profile"], one["ai_peer"]) for one in found["profiles"]] == [
        ("default", "hermes"),
        ("work", "hermes_work"),
    ]
    assert [one["agents"] for one in found["workspaces"]] == [{"hermes": "hermes"}]
    assert found["shared"] == []
    await server.run("honcho", "peer", "--ai", "hermes", "--profile", "work")
    assert "default and work have one agent peer" in await server.run("honcho", "peers")


async def test_the_status_says_that_it_answers(server: Server) -> None:
    found = await server.data("honcho", "status")
    assert found["connection"]["state"] == "answers"
    assert found["key"] == "honcho.json:1"
    assert "to think about" in await server.run("honcho", "status")


async def test_without_a_server_nothing_is_asked(server: Server) -> None:
    server.write(workspace="house")
    for words in (("peers",), ("identity",), ("identity", "x.md")):
        assert "set HONCHO_API_KEY" in await server.run("honcho", *words, code=2)
    server.write(workspace="house", baseUrl="http://127.0.0.1:9", enabled=False)
    for words in (("peers",), ("identity",)):
        assert "honcho enable" in await server.run("honcho", *words, code=2)
    assert (await server.data("honcho", "status"))["service"] == "disabled"
    server.write(baseUrl="http://127.0.0.1:9")
    assert "cannot be reached" in await server.run("honcho", "identity", code=1)
    assert "cannot be reached" in await server.run("honcho", "peers", code=1)
