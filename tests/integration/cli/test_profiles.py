"""Profiles: made, listed, and given the settings of another."""

from __future__ import annotations

import json
import stat
from typing import TYPE_CHECKING

from tests.integration.cli.calls import data, run

if TYPE_CHECKING:
    from gateway.settings.home import Home

CONFIG = """\
profile: default
memory: {provider: honcho}  # mine
platforms:
  telegram:
    token: '1:x'
"""
FILE = {
    "baseUrl": "http://127.0.0.1:9",
    "aiPeer": "iris",
    "hosts": {"hermes": {"peerName": "ada", "recallMode": "tools", "apiKey": "sekret-1"}},
}


def _filled(home: Home) -> None:
    home.config.write_text(CONFIG)
    home.env.write_text("OPENAI_API_KEY=k\nTELEGRAM_BOT_TOKEN=1:y\n")
    home.soul.write_text("You are Iris.\n")
    (home.path / "honcho.json").write_text(json.dumps(FILE))


def _blocks(home: Home) -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = json.loads((home.path / "honcho.json").read_text())[
        "hosts"
    ]
    return found


def test_a_profile_is_made_with_an_agent_of_its_own(home: Home) -> None:
    _filled(home)
    made = data("profile", "create", "work")
    work = home.of("work")
    assert (made["host"], made["ai_peer"], made["copied"]) == ("hermes_work", "hermes_work", [])
    assert stat.S_IMODE(work.path.stat().st_mode) == 0o700
    assert _blocks(home) == {
        **FILE["hosts"],  # type: ignore[dict-item]  # it is one
        "hermes_work": {
            "apiKey": "sekret-1",
            "peerName": "ada",
            "recallMode": "tools",
            "aiPeer": "hermes_work",
        },
    }
    assert [row["profile"] for row in data("profile", "list")] == ["default", "work"]
    assert "hermes_work" in run("profile", "list")


def test_a_clone_has_the_agents_files_and_no_bot(home: Home) -> None:
    _filled(home)
    told = run("profile", "create", "work", "--clone")
    assert ".env (OPENAI_API_KEY)" in told
    work = home.of("work")
    assert work.soul.read_text() == "You are Iris.\n"
    assert work.env.read_text() == "OPENAI_API_KEY=k\n"
    assert stat.S_IMODE(work.env.stat().st_mode) == 0o600
    assert work.config.read_text() == (
        "memory: {provider: honcho}  # mine\nplatforms:\n  telegram: {}\nweb:\n  port: 8788\n"
    )
    assert data("honcho", "status", "--profile", "work")["host"] == "hermes_work"


def test_a_name_that_is_taken_or_none_is_refused(home: Home) -> None:
    run("profile", "create", "work")
    assert "already; give another name" in run("profile", "create", "work", code=2)
    assert "already" in run("profile", "create", "default", code=2)
    assert "letters, digits" in run("profile", "create", "a/b", code=2)


def test_sync_shows_before_it_writes_and_hides_keys(home: Home) -> None:
    _filled(home)
    run("profile", "create", "work")
    run("honcho", "mode", "context")
    run("honcho", "peer", "--user", "bob", "--profile", "work", "--yes")
    before = (home.path / "honcho.json").read_bytes()
    shown = run("honcho", "sync", "--dry-run")
    assert "recallMode  tools  → context" in shown
    assert "peerName    bob    kept: it says so itself" in shown
    assert (home.path / "honcho.json").read_bytes() == before
    found = data("honcho", "sync")
    assert found["written"]
    assert _blocks(home)["hermes_work"]["recallMode"] == "context"
    assert _blocks(home)["hermes_work"]["peerName"] == "bob"
    assert not data("honcho", "sync")["written"]
    run("profile", "create", "play")
    assert "sekret" not in run("honcho", "sync", "--dry-run") + run("honcho", "status", "--all")


def test_sync_writes_into_a_file_of_the_profiles_own(home: Home) -> None:
    _filled(home)
    work = home.of("work")
    work.path.mkdir(parents=True)
    own = work.path / "honcho.json"
    own.write_text('{\n  "baseUrl": "http://127.0.0.1:7", "x": 1\n}\n')
    before = (home.path / "honcho.json").read_bytes()
    run("honcho", "sync")
    assert json.loads(own.read_text()) == {
        "baseUrl": "http://127.0.0.1:7",
        "x": 1,
        "hosts": {"hermes_work": {"peerName": "ada", "recallMode": "tools"}},
    }
    assert (home.path / "honcho.json").read_bytes() == before


def test_a_faulty_profile_is_left_alone_and_said(home: Home) -> None:
    _filled(home)
    home.of("bad").path.mkdir(parents=True)
    home.of("bad").config.write_text("memory: {provider: none}\n")
    assert "left alone, its settings are wrong: config.yaml:1" in run("honcho", "sync", code=1)


def test_with_one_profile_sync_says_how_to_get_another(home: Home) -> None:
    _filled(home)
    assert "profile create NAME" in run("honcho", "sync")


def test_a_root_key_that_counts_for_others_is_said(home: Home) -> None:
    _filled(home)
    run("profile", "create", "work")
    told = run("honcho", "peer", "--ai", "nova")
    assert "aiPeer stands at the root" in told
    assert "counts for work too" in told


def test_doctor_says_what_two_profiles_cannot_both_have(home: Home) -> None:
    _filled(home)
    run("profile", "create", "work")
    work = home.of("work")
    assert data("profile", "list")[1]["home"] == str(work.path)
    lines = [one["text"] for one in data("doctor")["findings"] if one["topic"] == "profiles"]
    assert lines == []
    work.env.write_text("TELEGRAM_BOT_TOKEN=2:z,1:y\n")
    work.config.write_text("web: {port: 8787}\n")
    lines = [one["text"] for one in data("doctor")["findings"] if one["topic"] == "profiles"]
    assert [line.partition(":")[0] for line in lines] == [
        "TELEGRAM_BOT_TOKEN is work's too",
        "port 8787 is work's too",
    ]
    assert "1:y" not in "".join(lines)
    assert data("profile", "create", "play")["page"] == 8788


def test_what_means_the_same_is_not_carried_and_an_older_block_is_the_one(home: Home) -> None:
    _filled(home)
    home.of("work").path.mkdir(parents=True)
    file = {
        "hosts": {
            "hermes": {"recallMode": "auto", "dialecticDepth": 7, "observationMode": "cross"},
            "hermes.work": {"dialecticDepth": 3},
        }
    }
    (home.path / "honcho.json").write_text(json.dumps(file))
    (found,) = data("honcho", "sync", "--dry-run")["profiles"]
    assert found["keys"] == []
    assert "hosts.hermes.work in" in run("honcho", "sync", "--dry-run")
