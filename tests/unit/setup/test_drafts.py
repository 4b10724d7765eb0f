"""Saving: all files or none, over nobody's change, secrets for their owner alone."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import pytest

from gateway.settings.home import Home
from gateway.settings.replace import ConcurrentChangeError, UnwritableError
from gateway.setup import drafts
from gateway.setup.drafts import Draft, Originals

if TYPE_CHECKING:
    from pathlib import Path

CONFIG = "# mine\nmodel:  # which\n  name: a   # this\nunknown: {kept: [1, 2]}\n"
HONCHO = (
    '{\n\t"pinPeerName": false,\n\t"mystery": 1.50,\n\t"hosts": {"other": {"aiPeer": "x"}}\n}\n'
)
ENV = "# keys\nexport OTHER='x y'\n"
DRAFT = Draft(
    config={("model", "name"): "b", ("access", "admins"): ["telegram:1"]},
    honcho={("peerName",): "mira", ("apiKey",): "hidden-key"},
    env={"OPENAI_API_KEY": "sk-hidden"},
)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "hermes", tmp_path)
    home.path.mkdir(mode=0o700)
    home.config.write_text(CONFIG)
    home.honcho.write_text(HONCHO)
    home.env.write_text(ENV)
    home.env.chmod(0o644)
    return home


def originals(home: Home) -> Originals:
    return Originals.read(home, home.honcho, ("hermes",))


def contents(home: Home) -> tuple[str, str, str]:
    return home.config.read_text(), home.honcho.read_text(), home.env.read_text()


def test_only_the_changed_keys_change(home: Home) -> None:
    drafts.save(originals(home).edits(DRAFT), home)
    config, honcho, env = contents(home)
    assert config == (
        "# mine\nmodel:  # which\n  name: b   # this\nunknown: {kept: [1, 2]}\n"
        'access:\n  admins: ["telegram:1"]\n'
    )
    assert honcho == (
        '{\n\t"pinUserPeer": false,\n\t"mystery": 1.50,\n\t"hosts": {"other": {"aiPeer": "x"},'
        ' "hermes": {"peerName": "mira", "apiKey": "hidden-key"}}\n}\n'
    )
    assert env == f"{ENV}OPENAI_API_KEY=sk-hidden\n"
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (home.honcho, home.env)]
    assert modes == [0o600, 0o600]


def test_what_is_shown_holds_no_secret(home: Home) -> None:
    lines = [line for edit in originals(home).edits(DRAFT) for line in edit.lines]
    assert "hidden-key" not in str(originals(home).edits(DRAFT))
    assert lines == [
        "OPENAI_API_KEY: the value (hidden)",
        "peerName: mira",
        "apiKey: the value (hidden)",
        "pinPeerName is now called pinUserPeer",
        "model.name: b",
        "access.admins: telegram:1",
    ]


def test_without_a_change_no_file_is_made(tmp_path: Path) -> None:
    home = Home(tmp_path / "hermes", tmp_path)
    assert originals(home).edits(Draft()) == []
    drafts.save([], home)
    assert not home.honcho.exists()


def test_an_old_pin_moves_with_any_run(home: Home) -> None:
    (edit,) = originals(home).edits(Draft())
    assert edit.lines == ("pinPeerName is now called pinUserPeer",)


@pytest.mark.parametrize("changed", ["config", "honcho", "env"])
def test_a_change_meanwhile_stops_everything(home: Home, changed: str) -> None:
    edits = originals(home).edits(DRAFT)
    path = getattr(home, changed)
    path.write_text(f"{path.read_text()}\n")
    before = contents(home)
    with pytest.raises(ConcurrentChangeError, match="nothing was saved"):
        drafts.save(edits, home)
    assert contents(home) == before


def test_a_file_that_appears_meanwhile_stops_everything(home: Home) -> None:
    home.env.unlink()
    edits = originals(home).edits(DRAFT)
    home.env.write_text("NEW=1\n")
    before = contents(home)
    with pytest.raises(ConcurrentChangeError):
        drafts.save(edits, home)
    assert contents(home) == before


def test_a_file_that_cannot_be_written_stops_everything(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    edits, before = originals(home).edits(DRAFT), contents(home)
    allowed = os.access

    def access(path: Path, mode: int) -> bool:  # the tests may run as root, who may everything
        return path != home.config and allowed(path, mode)

    monkeypatch.setattr(os, "access", access)
    with pytest.raises(UnwritableError, match=r"yaml: cannot be written; nothing was saved"):
        drafts.save(edits, home)
    assert contents(home) == before


def test_a_disk_that_fails_between_two_files_is_told(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    edits, replace = originals(home).edits(DRAFT), os.replace

    def failing(source: str, target: Path) -> None:
        if target == home.honcho.resolve():
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(UnwritableError, match=r"honcho.json: .*no space.*; saved before: .*\.env"):
        drafts.save(edits, home)
    assert home.honcho.read_text() == HONCHO
    assert home.config.read_text() == CONFIG
    assert sorted(path.name for path in home.path.iterdir()) == [
        ".env",
        "config.yaml",
        "honcho.json",
    ]
