"""``honcho``: there while Honcho is the provider; single settings, shown and changed."""

from __future__ import annotations

import asyncio
import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from gateway.policy.surface import IN_CHATS, surface
from gateway.store import migrate
from gateway.store.lock import ProcessLock
from gateway.store.sqlite import SqliteStore
from tests.integration.cli.calls import data, run

if TYPE_CHECKING:
    from pathlib import Path

    from gateway.settings.home import Home

#: nobody listens there
DEAD = "http://127.0.0.1:9"
FILE = """\
{
    "baseUrl": "http://127.0.0.1:9",   "recallMode": "context",
    "x-mine": [1,  2.50e1],
    "hosts": {"hermes": {"peerName": "mira"}, "other": {"recallMode": "tools"}}
}
"""


@pytest.fixture
def honcho(home: Home) -> Path:
    """The memory settings of a home with provider honcho."""
    home.config.write_text("memory: {provider: honcho}\n")
    path = home.path / "honcho.json"
    path.write_text(FILE)
    return path


def test_the_group_is_there_while_honcho_is_the_provider(home: Home) -> None:
    assert "│ honcho" not in run("--help")
    refused = run("honcho", "status", code=2)
    assert "while Honcho is the memory provider; here it is builtin" in refused
    assert "memory setup honcho" in refused
    home.config.write_text("memory: {provider: honcho}\n")
    assert "│ honcho" in run("--help")
    assert data("honcho", "status")["service"] == "not set up"
    home.config.write_text("memory: {provider: honhco}\n")
    assert "did you mean honcho?" in run("honcho", "status", code=2)


@pytest.mark.usefixtures("honcho")
def test_setup_without_a_terminal_says_how() -> None:
    assert "--answers FILE" in run("honcho", "setup", code=2)


def test_the_agent_is_told_the_commands_of_the_profile_it_runs_on(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Any] = []
    monkeypatch.setattr("gateway.cli.run._run", lambda *_, terminal, **__: told.append(terminal))
    home.of("work").path.mkdir(parents=True)
    home.of("work").config.write_text("memory: {provider: honcho}\n")
    run("run", "--profile", "work")
    run("run")
    assert "sync" in told[0]["honcho"]
    assert "honcho" not in told[1]
    assert told[0].keys() - told[1].keys() == {"honcho"}
    for commands in told:
        text = surface("telegram-direct-700100200", "hybrid", chat=IN_CHATS, terminal=commands)
        assert len(text) <= 300
        assert text.endswith("people | aliases.")
    assert " | honcho status/setup/" in surface("x", "hybrid", chat=IN_CHATS, terminal=told[0])


def test_it_goes_by_the_profile_wherever_that_stands(home: Home) -> None:
    work = home.of("work")
    work.path.mkdir(parents=True)
    work.config.write_text("memory: {provider: honcho}\n")
    for words in (
        ("--profile", "work", "honcho", "status"),
        ("honcho", "--profile", "work", "status"),
        ("honcho", "status", "--profile", "work"),
        ("honcho", "status", "--profile=work"),
    ):
        found = data(*words)
        assert (found["profile"], found["host"]) == ("work", "hermes_work")
    assert "here it is builtin" in run("honcho", "status", code=2)
    told = run("honcho", "status", "--profile", "wrok", code=2)
    assert "did you mean work?" in told
    assert "default, work" in told


@pytest.mark.usefixtures("honcho")
def test_the_status_of_one_and_of_all() -> None:
    found = data("honcho", "status")
    assert (found["service"], found["connection"]["state"]) == (DEAD, "fails")
    assert (found["user_peer"], found["settings"]["recallMode"]) == ("mira", "context")
    assert found["said_in"] == {"recallMode": "honcho.json:2"}
    assert "cannot be reached" in run("honcho", "status")
    (row,) = data("honcho", "status", "--all")
    assert (row["profile"], row["ai_peer"], row["running"]) == ("default", "hermes", False)
    assert "context" in run("honcho", "status", "--all")


@pytest.mark.usefixtures("honcho")
def test_a_faulty_neighbour_is_a_line_and_not_the_end(home: Home) -> None:
    home.of("bad").path.mkdir(parents=True)
    home.of("bad").config.write_text("memory: {provider: none}\n")
    rows = data("honcho", "status", "--all")
    assert [bool(row["problem"]) for row in rows] == [False, True]
    assert "bad: config.yaml:1: memory.provider" in run("honcho", "status", "--all")


CHANGES: list[tuple[list[str], str, str, dict[str, Any]]] = [
    (["mode", "tools"], '"context"', '"tools"', {"recallMode": "tools"}),
    (["strategy", "global"], '"mira"', '"mira", "sessionStrategy": "global"', {}),
    (["peer", "--user", "Ada"], '"mira"', '"Ada"', {"peerName": "Ada"}),
    (["peer", "--ai", "Iris"], '"mira"', '"mira", "aiPeer": "Iris"', {"aiPeer": "Iris"}),
    (
        ["peer", "--reasoning", "max"],
        '"mira"',
        '"mira", "dialecticReasoningLevel": "max"',
        {"dialecticReasoningLevel": "max"},
    ),
    (
        ["mode", "--memory", "local", "--user", "honcho"],
        '"mira"',
        '"mira", "memoryMode": "local", "userMemoryMode": "honcho"',
        {"memoryMode": "local", "userMemoryMode": "honcho"},
    ),
    (
        ["tokens", "--context", "none", "--dialectic", "90"],
        '"mira"',
        '"mira", "contextTokens": null, "dialecticMaxChars": 90',
        {"contextTokens": None, "dialecticMaxChars": 90},
    ),
    (["disable"], '"mira"', '"mira", "enabled": false', {"enabled": False}),
    (["enable"], '"mira"', '"mira", "enabled": true', {"enabled": True}),
]


@pytest.mark.parametrize(("words", "old", "new", "holds"), CHANGES)
def test_a_key_is_written_where_it_stands_and_nothing_else_changes(
    honcho: Path, words: list[str], old: str, new: str, holds: dict[str, Any]
) -> None:
    done = data("honcho", *words)
    assert honcho.read_text() == FILE.replace(old, new)
    assert {key: done["changed"][key]["to"] for key in holds} == holds
    assert (done["file"], done["takes_effect"]) == (str(honcho), "start")


def test_without_an_argument_it_shows(honcho: Path) -> None:
    shown: dict[str, dict[str, Any]] = {
        "strategy": {"strategy": "per-directory"},
        "peer": {"user": "mira", "ai": "hermes", "reasoning": "low"},
        "mode": {"recall": "context", "user": "hybrid", "agent": "hybrid"},
        "tokens": {"context_tokens": None, "dialectic_max_chars": 600},
        "map": {"sessions": {}, "mapped": False},
    }
    for command, wanted in shown.items():
        assert data("honcho", command).items() >= wanted.items()
        assert run("honcho", command).strip()
    assert honcho.read_text() == FILE


WRONG = [
    (["strategy", "per-rpo"], ["did you mean per-repo?", "per-session", "global"]),
    (["mode", "tool"], ["did you mean tools?", "hybrid", "context"]),
    (["mode", "honcho"], ["honcho mode --memory honcho", "hybrid, context, tools"]),
    (["mode", "local"], ["honcho mode --memory local"]),
    (["mode", "--memory", "hybird"], ["did you mean hybrid?", "honcho", "local"]),
    (["peer", "--reasoning", "hihg"], ["did you mean high?", "minimal", "max"]),
    (["peer", "--user", " "], ["peerName", "at least one letter"]),
    (["peer", "--user", "hermes"], ["peerName: hermes is aiPeer (by default"]),
    (["peer", "--ai", "mira"], ["peerName: mira is aiPeer too"]),
    (["tokens", "--context", "12k"], ["--context: 12k is not a number", "--context 2000"]),
    (["tokens", "--dialectic", "0"], ["--dialectic: 0 is not a number above 0"]),
    (["map", "my project"], ["such as my-project"]),
    (["map", "--remove"], ["is not mapped"]),
    (["map", "x", "--conversation", "nobody"], ["nobody is no conversation", "honcho sessions"]),
    (["stauts"], ["Did you mean 'status'?"]),
]


@pytest.mark.parametrize(("words", "told"), WRONG)
def test_wrong_use_teaches_and_writes_nothing(
    honcho: Path, words: list[str], told: list[str]
) -> None:
    output = run("honcho", *words, code=2)
    assert [each for each in told if each not in output] == []
    assert honcho.read_text() == FILE


def test_this_folder_is_given_a_session(honcho: Path) -> None:
    here = os.getcwd()
    done = data("honcho", "map", "project")
    assert done["changed"] == {f"sessions.{here}": {"from": None, "to": "project"}}
    assert data("honcho", "map")["session"] == "project"
    assert f"project  {here}" in run("honcho", "map")
    key = "default:telegram:111:direct:700100200"
    run("honcho", "map", "mira-talk", "--conversation", key)
    assert data("honcho", "map")["sessions"] == {here: "project", key: "mira-talk"}
    run("honcho", "map", "--remove")
    assert data("honcho", "map")["sessions"] == {key: "mira-talk"}


def test_a_legacy_block_of_a_profile_is_the_one_that_is_written(home: Home) -> None:
    work = home.of("work")
    work.path.mkdir(parents=True)
    work.config.write_text("profile: default\nmemory: {provider: honcho}\n")
    path = home.path / "honcho.json"
    path.write_text('{"hosts": {"hermes.work": {"peerName": "mira"}}}')
    run("--profile", "work", "honcho", "mode", "tools")
    assert json.loads(path.read_text()) == {
        "hosts": {"hermes.work": {"peerName": "mira", "recallMode": "tools"}}
    }


def test_a_memory_mode_that_is_overruled_is_said(honcho: Path) -> None:
    honcho.write_text(FILE.replace('"mira"', '"mira", "userMemoryMode": "local"'))
    assert "userMemoryMode is local and goes before" in run("honcho", "mode", "--memory", "honcho")


def test_a_file_that_cannot_be_written_is_a_failure(
    honcho: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("gateway.settings.replace._replace_file", refuse)
    told = run("honcho", "mode", "tools", code=1)
    assert f"{honcho}: cannot be written (permission denied)" in told


def test_a_new_owner_is_previewed_and_can_be_taken_back(honcho: Path) -> None:
    told = run("honcho", "peer", "--user", "Ada", "--ai", "Iris", "--reason", "moved in")
    assert "moves   console: mira → Ada" in told
    assert "aliases undo 1" in told
    assert "aiPeer    hermes → Iris" in told
    assert "Nobody" not in run("aliases", "history")
    assert "by command line" in run("aliases", "history")
    run("aliases", "undo", "1", "--yes")
    assert data("honcho", "peer")["user"] == "mira"
    found = data("honcho", "peer", "--user", "Iris", "--ai", "mira2")
    assert found["changed"]["peerName"] == {"from": "mira", "to": "Iris"}
    assert data("honcho", "peer").items() >= {"user": "Iris", "ai": "mira2"}.items()


def test_who_changed_what_is_audited_without_values(home: Home, honcho: Path) -> None:
    store = SqliteStore(home.database)
    migrate.upgrade(store.engine)
    asyncio.run(store.close())
    run("honcho", "mode", "tools")
    import sqlite3

    with sqlite3.connect(home.database) as conn:
        rows = conn.execute("SELECT actor, action, subject, detail FROM audit").fetchall()
    conn.close()
    assert [row[:3] for row in rows] == [("cli", "settings.changed", "settings")]
    assert json.loads(rows[0][3]) == {"keys": ["honcho.recallMode"]}


def test_what_is_switched_off_is_not_replaced_by_another_memory(home: Home) -> None:
    (home.path / "honcho.json").write_text('{"baseUrl": "http://127.0.0.1:9"}')
    assert "memory.provider: honcho is written into" in run("honcho", "disable")
    assert home.config.read_text() == "memory:\n  provider: honcho\n"
    assert data("honcho", "status")["service"] == "disabled"
    assert data("memory", "status")["service"] == "disabled"
    run("honcho", "enable")
    assert data("honcho", "status")["service"] == DEAD


def test_a_host_that_the_environment_names_is_not_carried_over(
    honcho: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HERMES_HONCHO_HOST", "other")
    assert data("honcho", "status")["settings"]["recallMode"] == "tools"
    assert "HERMES_HONCHO_HOST names one block" in run("honcho", "sync", code=2)
    run("honcho", "mode", "hybrid")
    assert honcho.read_text() == FILE.replace('"tools"', '"hybrid"')


def test_a_folder_that_is_gone_ends_no_command_badly(
    honcho: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert "this folder is gone" in run("honcho", "map", code=2)
    assert "this folder is gone" in run("honcho", "map", "x", code=2)
    assert data("whois", "telegram", "7654321")["peer"] == "7654321"
    assert honcho.read_text() == FILE


@pytest.mark.parametrize("account", ["mira", "7.5", "07654321", "-"])
def test_whois_wants_an_id_that_can_be_one(honcho: Path, account: str) -> None:
    assert "names are no ids" in run("whois", "telegram", "--", account, code=2)


def test_it_is_said_when_a_change_counts(home: Home, honcho: Path) -> None:
    assert data("honcho", "mode", "tools")["takes_effect"] == "start"
    lock = ProcessLock(home.lock)
    lock.acquire()
    try:
        assert data("honcho", "mode", "hybrid")["takes_effect"] == "now"
        assert "follows at once" in run("honcho", "mode", "context")
        assert data("honcho", "strategy", "global")["takes_effect"] == "restart"
        assert "started again" in run("honcho", "disable")
    finally:
        lock.release()
