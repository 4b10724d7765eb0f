"""``export`` and ``erase``: on a home whose gateway does not run."""

from __future__ import annotations

import json
import zipfile
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from gateway.cli.main import cli
from tests.integration.cli.test_notes_commands import home as home

if TYPE_CHECKING:
    from pathlib import Path

    from gateway.settings.home import Home


def run(*words: str, code: int = 0, input: str | None = None) -> str:
    result = CliRunner().invoke(cli, list(words), input=input)
    assert result.exit_code == code, result.output
    return result.output


def test_an_archive_holds_one_person_and_is_private(home: Home, tmp_path: Path) -> None:
    path = tmp_path / "mira.zip"
    told = json.loads(run("export", "mira", "--to", str(path), "--json"))
    assert told["rows"]["messages"] == 2
    assert path.stat().st_mode & 0o777 == 0o600
    with zipfile.ZipFile(path) as archive:
        talk = archive.read("talk.txt").decode()
        assert json.loads(archive.read("person.json"))["peer"] == "mira"
        assert json.loads(archive.read("memory.json")) == {"known": []}
    assert "The otter is back" in talk
    assert "An otter of mine" not in talk
    assert "exists already" in run("export", "mira", "--to", str(path), code=1)
    assert "person.exported" in run("audit", "list", "--person", "mira")


@pytest.mark.parametrize("command", [("export",), ("erase", "--yes")])
def test_nobody_is_said_with_the_remedy(home: Home, command: tuple[str, ...]) -> None:
    assert "people list" in run(*command, "nobody", code=1)
    assert "is the agent" in run(*command, "hermes", code=1)


def test_an_erasure_asks_first_and_then_leaves_nothing(home: Home) -> None:
    (home.path / "honcho.json").write_text(
        '{"peerName": "mira", "userPeerAliases": {"1": "mira"}}'
    )
    home.memories.mkdir()
    (home.memories / "MEMORY.md").write_text("Likes otters")
    asked = run("erase", "mira", input="n\n", code=1)
    assert "turns     1" in asked
    assert "nothing was erased" in asked
    assert "nothing was erased: add --yes" in run("erase", "mira", "--json", code=1)
    done = json.loads(run("erase", "mira", "--yes", "--json"))
    assert done["erased"]["messages"] == 2
    assert done["waiting_for_service"] == ""
    assert 'peerName is "mira"' in done["still_named_by"]
    assert not (home.memories / "MEMORY.md").exists()
    found = run("search", "otter")
    assert "An otter of mine" in found
    assert "The otter is back" not in found
    assert b"otter is back" not in home.database.read_bytes()
    assert "person.erased" in run("audit", "list")
    assert "The audit is whole" in run("audit", "verify")
