"""``memory setup``: the memory service is asked, and no key gets lost on the way."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from gateway.memory.clients import ENVIRONMENTS
from gateway.store import migrate
from gateway.store.sqlite import SqliteStore
from tests.conformance import embedded
from tests.integration.setup.operator import contents

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gateway.settings.home import Home
    from tests.conformance.embedded import Server
    from tests.integration.setup.operator import Operator


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Server]:
    def store() -> SqliteStore:
        found = SqliteStore(tmp_path / "service.db")
        migrate.upgrade(found.engine)
        return found

    with embedded.running(store) as server:
        yield server


def block(home: Home) -> dict[str, Any]:
    return dict(json.loads(contents(home.path)["honcho.json"])["hosts"]["hermes"])


UNCHANGED = (
    ("Name of the agent in memory?", ""),
    ("Workspace?", ""),
    ("Change how memory works", ""),
    ("Your name?", ""),
)


async def test_from_the_gateway_to_a_server_to_the_cloud_and_back(
    home: Home, operator: Operator, service: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    await operator.run("memory", "setup")
    await operator.goes_through(
        ("Memory now: in this gateway.", "@A Honcho server of your own"),
        ("Address of the server? Enter means http://localhost:8000.", service.url),
        ("Its token (JWT)? - means none What you type is not shown. Enter means none.", "wrong"),
        ("does not accept the key", "@Type it again"),
        ("Address of the server?", service.url),
        ("Its token", service.key),
        (f"The memory service at {service.url} answers", "Heremes"),
        ("Workspace? Agents in one workspace", "house"),
        ("Change how memory works", "y"),
        ("Whose view is kept?", "@unified"),
        ("When is what was said written?", "often"),
        ("often is not async or turn or session or a number", "5"),
        ("How does the model get at memory?", "@tools"),
        ("Most tokens of recalled context? (none or a number) Enter means none.", "800"),
        ("Reason about the person every how many turns? (a number) Enter means 2.", "0"),
        ("0 is not a number", "3"),
        ("How thoroughly?", "@high"),
        ("What is one session on the console?", "@global"),
        ("Your name? Enter means ada.", ""),
        ("Save this?", ""),
    )
    await operator.ends()
    assert contents(home.path)["config.yaml"] == "memory:\n  provider: honcho\n"
    server = {"baseUrl": service.url, "apiKey": service.key}
    others = {
        "aiPeer": "Heremes",
        "workspace": "house",
        "observationMode": "unified",
        "writeFrequency": 5,
        "recallMode": "tools",
        "contextTokens": 800,
        "dialecticCadence": 3,
        "dialecticReasoningLevel": "high",
        "sessionStrategy": "global",
        "peerName": "ada",
    }
    assert block(home) == server | others
    # the cloud is out of reach: its key is saved all the same
    monkeypatch.setitem(ENVIRONMENTS, "production", "http://127.0.0.1:9")
    await operator.run("honcho", "setup")
    await operator.goes_through(
        ("Memory now: a honcho server of your own", "@Honcho in the cloud"),
        ("Honcho API key?", "cloud-key"),
        ("cannot be reached", "@Save it all the same"),
        *UNCHANGED,
        ("Save this?", ""),
    )
    await operator.ends()
    assert block(home) == {"apiKey": "cloud-key", "kept": {"server": server}} | others
    await operator.run("memory", "setup", "honcho")
    await operator.goes_through(
        ("Memory now: honcho in the cloud", "@A Honcho server of your own"),
        (f"Address of the server? Enter means {service.url}.", ""),
        ("Its token (JWT)? - means none What you type is not shown. Enter keeps", ""),
        *UNCHANGED,
        ("Save this?", ""),
    )
    await operator.ends()
    assert block(home) == server | {"kept": {"cloud": {"apiKey": "cloud-key"}}} | others
    assert service.key not in operator.raw
    assert "cloud-key" not in operator.raw


async def test_back_into_the_gateway_keeps_all_keys(home: Home, operator: Operator) -> None:
    home.path.mkdir(mode=0o700)
    honcho = '{"apiKey": "cloud-key", "enabled": false, "peerName": "ada"}'
    (home.path / "honcho.json").write_text(honcho)
    home.config.write_text("memory: {provider: honcho}  # for now\n")
    await operator.run("memory", "setup")
    await operator.goes_through(
        ("Memory now: honcho in the cloud", "@In this gateway"),
        ("Name of the agent", ""),
        ("Change how memory works", ""),
        ("Your name?", ""),
        ("memory.provider: builtin", ""),
    )
    await operator.ends()
    assert contents(home.path) == {
        "config.yaml": "memory: {provider: builtin}  # for now\n",
        "honcho.json": honcho,
    }


async def test_leaving_memory_as_it_was(home: Home, operator: Operator) -> None:
    await operator.run("memory", "setup", "honcho")
    await operator.goes_through(
        ("Where shall memory be kept?", "@A Honcho server"),
        ("Address of the server?", "http://127.0.0.1:9"),
        ("Its token", ""),
        ("cannot be reached", "@Leave memory as it was"),
        ("Your name?", ""),
        ("Save this?", "n"),
    )
    await operator.ends()
    assert not home.path.exists()


async def test_a_service_that_is_switched_off_is_switched_on_from_a_file(
    home: Home, operator: Operator, service: Server
) -> None:
    home.path.mkdir(mode=0o700)
    (home.path / "honcho.json").write_text('{"enabled": false}')
    answers = home.user / "answers.yaml"
    answers.write_text(
        f"memory:\n  place: server\n  base_url: {service.url}\n  token: {service.key}\n"
        "  tuning: {contextTokens: none, writeFrequency: 3}\n"
    )
    await operator.run("memory", "setup", "--answers", str(answers), "--json")
    await operator.ends()
    assert json.loads(contents(home.path)["honcho.json"]) == {
        "enabled": True,
        "hosts": {"hermes": {"baseUrl": service.url, "apiKey": service.key, "writeFrequency": 3}},
    }
    result = json.loads(operator.result.getvalue())
    assert result["checks"] == [f"The memory service at {service.url} answers and takes the key."]
    assert service.key not in operator.result.getvalue()


async def test_a_wrong_argument_teaches(home: Home, operator: Operator) -> None:
    await operator.run("memory", "setup", "redis")
    assert "redis: write memory setup, or memory setup honcho" in await operator.ends(2)
