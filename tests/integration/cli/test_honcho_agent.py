"""``honcho identity`` and ``honcho peers``: against a real memory service."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.integration.cli.server import AGENT

if TYPE_CHECKING:
    from tests.integration.cli.server import Server


async def test_a_file_is_seeded_once_and_shown(server: Server) -> None:
    (server.home.path / "WHO.md").write_text("I am a rover.\n")
    file = str(server.home.path / "WHO.md")
    told = await server.run("honcho", "identity", file)
    assert "hermes has WHO.md: 1 part." in told
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
