"""``honcho migrate``: an OpenClaw installation, moved once, with nothing of it changed."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import pytest

from gateway.memory.seed import notes_session, seed_session
from gateway.model.ids import PeerId
from tests.integration.cli.calls import data, run

if TYPE_CHECKING:
    from pathlib import Path

    from gateway.settings.home import Home
    from tests.integration.cli.server import Server

LONG = "m" * 2300
PEERS = {"7654321": "owner", "telegram-99": "bob", "U0AB": "U0AB", "webchat:1": "x"}
CONFIG = """{
  // the agent that answers
  agents: { list: [{ id: 'other' }, { id: "house", default: true, workspace: "WORKSPACE" },] },
  channels: { telegram: { botToken: "1:x" } },
  plugins: { entries: { "openclaw-honcho": { config: SETTINGS, } } },
}
"""


@pytest.fixture
def openclaw(home: Home) -> Path:
    """An installation as people have it."""
    folder = home.user / ".openclaw"
    workspace = folder / "files"
    (workspace / "memory").mkdir(parents=True)
    for name in ("SOUL.md", "USER.md", "TOOLS.md", "HEARTBEAT.md"):
        (workspace / name).write_text(f"{name} says otter\n")
    (workspace / "MEMORY.md").write_text(LONG)
    (workspace / "memory" / "monday.md").write_text("An otter came by.\n")
    (workspace / "memory" / "known.md").write_text("Uploaded long ago.\n")
    (workspace / "picture.png").write_bytes(b"\x89PNG")
    digest = hashlib.sha256(b"Uploaded long ago.\n").hexdigest()
    (folder / ".upload-manifest.json").write_text(json.dumps({"memory/known.md": digest}))
    peers = home.user / ".honcho" / "openclaw-peers.json"
    peers.parent.mkdir()
    peers.write_text(json.dumps({"version": 1, "peers": PEERS}))
    settle(folder, {"apiKey": "${OC_KEY}", "timeoutMs": 90000})
    return folder


def settle(folder: Path, settings: dict[str, Any]) -> None:
    text = CONFIG.replace("WORKSPACE", str(folder / "files"))
    (folder / "openclaw.json").write_text(text.replace("SETTINGS", json.dumps(settings)))


def everything(folder: Path) -> dict[str, bytes]:
    return {str(each): each.read_bytes() for each in folder.rglob("*") if each.is_file()}


def steps(found: dict[str, Any]) -> dict[str, str]:
    """Return what → act."""
    return {step["what"]: step["act"] for step in found["steps"]}


@pytest.fixture
def provider(home: Home) -> None:
    home.config.write_text("memory: {provider: honcho}\n")


@pytest.mark.usefixtures("provider", "openclaw")
def test_the_plan_is_shown_and_nothing_is_done(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = everything(home.path)
    found = data("honcho", "migrate", "--dry-run")
    assert (found["agent"], found["done"]) == ("house", False)
    assert found["problems"] == ["apiKey is ${OC_KEY}, which is not set here"]
    assert steps(found) == {
        "timeout": "set",
        "workspace": "set",
        "peerName": "set",
        "aiPeer": "set",
        "7654321": "set",
        "telegram-99": "set",
        "U0AB": "leave",
        "webchat:1": "leave",
        "defaultUnknownPolicy": "leave",
        "HEARTBEAT.md": "leave",
        "MEMORY.md": "upload",
        "SOUL.md": "copy",
        "TOOLS.md": "upload",
        "USER.md": "copy",
        "memory/known.md": "leave",
        "memory/monday.md": "upload",
    }
    told = run("honcho", "migrate", "--dry-run")
    assert "aiPeer: agent-house" in told
    assert "telegram:99 → bob" in told
    assert "Nothing was done." in told
    assert "--dry-run, then" in run("honcho", "migrate", code=2)
    assert everything(home.path) == before


@pytest.mark.usefixtures("provider")
def test_without_an_installation_it_says_where_it_looked(home: Home, openclaw: Path) -> None:
    elsewhere = home.user / "moved"
    openclaw.rename(elsewhere)
    told = run("honcho", "migrate", code=1)
    assert "~/.openclaw" in told
    assert "--from FOLDER" in told
    assert data("honcho", "migrate", "--dry-run", "--from", str(elsewhere))["agent"] == "house"


@pytest.mark.usefixtures("provider")
def test_the_key_of_the_hosted_service_goes_to_env(
    home: Home, openclaw: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("MEMORY.md", "TOOLS.md", "memory/monday.md"):
        (openclaw / "files" / name).unlink()
    settle(openclaw, {"apiKey": "sekret-1"})
    monkeypatch.setattr(
        "gateway.memory.clients.ENVIRONMENTS", {"production": "http://127.0.0.1:9"}
    )
    told = run("honcho", "migrate", "--yes")
    assert "sekret" not in told
    assert "one bot cannot be received twice" in told
    assert home.env.read_text() == "HONCHO_API_KEY=sekret-1\n"
    assert "apiKey" not in (home.path / "honcho.json").read_text()
    assert (home.memories / "USER.md").read_text() == "USER.md says otter\n"


@pytest.mark.usefixtures("provider")
def test_what_is_here_already_stays(home: Home, openclaw: Path) -> None:
    home.soul.write_text("I am somebody else.\n")
    (home.path / "honcho.json").write_text(
        '{"peerName": "ada", "userPeerAliases": {"7654321": "ada"}}'
    )
    found = data("honcho", "migrate", "--dry-run")
    assert {name: steps(found)[name] for name in ("peerName", "7654321", "SOUL.md")} == {
        "peerName": "leave",
        "7654321": "leave",
        "SOUL.md": "leave",
    }
    assert "honcho peer --user owner" in run("honcho", "migrate", "--dry-run")
    (openclaw / "openclaw.json").write_text("{ no")
    assert "cannot be read as JSON" in run("honcho", "migrate", "--dry-run")


async def test_all_of_it_once(server: Server, openclaw: Path) -> None:
    home = server.home
    home.database.unlink()
    server.write()
    settle(openclaw, {"baseUrl": server.url, "apiKey": server.key, "workspaceId": "house"})
    await server.memory.register_agent("house", PeerId("house-agent"))
    before = everything(openclaw)
    told = await server.run("honcho", "migrate", "--yes")
    assert "Done; OpenClaw's files are as they were" in told
    assert server.key not in told
    assert everything(openclaw) == before
    assert json.loads((home.path / "honcho.json").read_text())["hosts"]["hermes"] == {
        "baseUrl": server.url,
        "apiKey": server.key,
        "workspace": "house",
        "peerName": "owner",
        "aiPeer": "house-agent",
        "userPeerAliases": {"7654321": "owner", "telegram:99": "bob"},
    }
    assert home.soul.read_text() == "SOUL.md says otter\n"
    for peer, session, count in (
        ("house-agent", seed_session("hermes", PeerId("house-agent")), 1),
        ("owner", notes_session("hermes", PeerId("owner")), 1),
    ):
        found = await server.memory.search("otter", peer=None, session=session, limit=9)
        assert [one.peer for one in found] == [peer] * count
    again = await server.data("honcho", "migrate", "--yes")
    assert set(steps(again).values()) == {"leave"}
    assert "All of it is here already." in await server.run("honcho", "migrate")
