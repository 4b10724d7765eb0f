"""``search`` and ``memory approvals``: on a home whose gateway does not run."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from gateway.cli.main import cli
from gateway.model.ids import PeerId
from gateway.settings.home import Home
from gateway.store import approvals, migrate, search
from gateway.store.sqlite import SqliteStore
from tests.contract.store import samples
from tests.contract.store.talk import Talk

if TYPE_CHECKING:
    from pathlib import Path

    from gateway.store.engine import Tx


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home with two people's messages and a write that waits."""
    place = Home(tmp_path / "hermes", tmp_path / "user")
    place.gateway.mkdir(parents=True, mode=0o700)
    monkeypatch.setenv("HERMES_HOME", str(place.path))
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    (place.path / "honcho.json").write_text('{"peerName": "mira"}')
    asyncio.run(_fill(place))
    return place


async def _fill(place: Home) -> None:
    store = SqliteStore(place.database)
    migrate.upgrade(store.engine)
    talk = await Talk(store).open()
    await talk.say("The otter is back", answer="Lovely!")
    await talk.say("An otter of mine", peer="tobias")
    await store.close()


def change(place: Home, fn: Any) -> Any:
    async def write() -> Any:
        store = SqliteStore(place.database)
        try:
            return await store.write(fn)
        finally:
            await store.close()

    return asyncio.run(write())


def stage(tx: Tx) -> str:
    write = approvals.Write(PeerId("mira"), "memory", "add", "Plays chess")
    return approvals.stage(tx, write, now=samples.NOW)[0]


def run(*words: str, code: int = 0) -> str:
    result = CliRunner().invoke(cli, list(words))
    assert result.exit_code == code, result.output
    return result.output


def test_words_are_found_for_everybody_or_one_person(home: Home) -> None:
    every = json.loads(run("search", "otter", "--limit", "5", "--json"))
    assert {one["snippet"] for one in every} == {"The otter is back", "An otter of mine"}
    assert every[0]["session"] == samples.SESSION
    one = json.loads(run("search", "otter", "--person", "tobias", "--json"))
    assert [each["snippet"] for each in one] == ["An otter of mine"]
    assert "Mira: The otter is back" in run("search", "otter back")
    assert "Nothing was found." in run("search", "zebra")


@pytest.mark.parametrize("words", [[], ["x", "--check"], ["--check", "--rebuild"], ["  "]])
def test_one_thing_is_asked_at_a_time(home: Home, words: list[str]) -> None:
    assert "give words to look for" in run("search", *words, code=2)


def test_the_index_is_checked_and_made_anew(home: Home) -> None:
    assert json.loads(run("search", "--check", "--json")) == {
        "indexed": 3,
        "missing": 0,
        "stale": 0,
        "damage": "",
    }
    change(home, search.clear)
    assert "search --rebuild" in run("search", "--check", code=1)
    assert "indexed  3 messages" in run("search", "--rebuild")
    assert "The otter is back" in run("search", "otter")


def test_the_operator_decides_on_what_waits(home: Home) -> None:
    assert "Nothing waits" in run("memory", "approvals")
    first = change(home, stage)
    assert "mira  add in memory: Plays chess" in run("memory", "approvals")
    [waiting] = json.loads(run("memory", "approvals", "--json"))
    assert (waiting["id"], waiting["person"]) == (first, "mira")
    assert f"{first} approved" in run("memory", "approve", first)
    assert (home.memories / "MEMORY.md").read_text() == "Plays chess\n"
    second = change(home, stage)
    assert json.loads(run("memory", "reject", second, "--json"))["state"] == "rejected"
    assert "nothing waits under" in run("memory", "approve", second, code=1)
