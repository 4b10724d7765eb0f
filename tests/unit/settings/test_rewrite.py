"""Edits of files: the key changes, every other byte stays, nobody's change is lost."""

from __future__ import annotations

import multiprocessing
import os
import stat
from typing import TYPE_CHECKING, Any

import pytest

from gateway.model.errors import ConfigurationError
from gateway.settings.files import MISSING, digest
from gateway.settings.rewrite import REMOVE, ConcurrentChangeError, edit, edit_honcho
from gateway.settings.rewrite_env import edit_env

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

Changes = dict[tuple[str, ...], Any]

_YAML = """\
# top
memory:   # mem
  provider: builtin   # which
access:
  admins:
    - telegram:1   # Mira
    - "telegram:2"  # Tobias
  # after
  allow: {telegram: [ '1' ], slack: []}
model:
  # nothing yet

timezone: 'UTC' # zone
log:
  level: info
"""


def edited(tmp_path: Path, name: str, text: str, changes: Changes) -> str:
    path = tmp_path / name
    path.write_bytes(text.encode())
    assert edit(path, digest(path), changes) == digest(path)
    return path.read_bytes().decode()


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("changes", "old", "new"),
    [
        ({("memory", "provider"): "honcho"}, "builtin ", "honcho "),
        ({("timezone",): "Europe/Berlin"}, "'UTC'", "'Europe/Berlin'"),
        ({("access", "allow", "telegram"): ["1", "2"]}, "[ '1' ]", '["1", "2"]'),
        ({("access", "allow", "discord"): ["5"]}, "slack: []}", 'slack: [], discord: ["5"]}'),
        ({("access", "allow", "slack"): REMOVE}, ", slack: []", ""),
        ({("access", "allow", "telegram"): REMOVE}, "telegram: [ '1' ], ", ""),
        (
            {("access", "admins"): ["telegram:1", "telegram:3"]},
            '    - "telegram:2"  # Tobias\n',
            '    - "telegram:3"\n',
        ),
        ({("access", "admins"): ["telegram:2"]}, "    - telegram:1   # Mira\n", ""),
        ({("access", "pairing"): False}, "slack: []}\n", "slack: []}\n  pairing: false\n"),
        ({("model", "name"): "x"}, "model:\n", "model:\n  name: x\n"),
        ({("model",): {"name": "x"}}, "model:\n", "model: {name: x}\n"),
        ({("log", "level"): REMOVE}, "log:\n  level: info\n", "log: {}\n"),
        ({("log",): REMOVE}, "log:\n  level: info\n", ""),
        ({("memory",): REMOVE}, "memory:   # mem\n  provider: builtin   # which\n", ""),
        (
            {("web", "port"): 9, ("web", "host"): "::1"},
            "level: info\n",
            'level: info\nweb:\n  port: 9\n  host: "::1"\n',
        ),
        ({("gone", "deep"): REMOVE}, "", ""),
    ],
)
def test_yaml(tmp_path: Path, changes: Changes, old: str, new: str, newline: str) -> None:
    text = _YAML.replace("\n", newline)
    old, new = old.replace("\n", newline), new.replace("\n", newline)
    assert text.count(old) == 1 or not old
    assert edited(tmp_path, "config.yaml", text, changes) == text.replace(old, new)


@pytest.mark.parametrize(
    ("text", "changes", "result"),
    [
        ("", {("a", "b"): 1}, "a:\n  b: 1\n"),
        ("# only\n", {("a",): True}, "# only\na: true\n"),
        ("a: 1", {("b",): None}, "a: 1\nb: null\n"),
        ("a: 1\n", {("a",): REMOVE}, ""),
        ("\ufeffa: 1\n", {("a",): 2}, "\ufeffa: 2\n"),
        ("a: |\n  x\n  y\nb: 1\n", {("a",): "z"}, "a: z\nb: 1\n"),
        (
            "a:\n    b:\n        c: 1\n",
            {("a", "d", "e"): 2},
            "a:\n    b:\n        c: 1\n    d:\n        e: 2\n",
        ),
        ("a:\n- x\n- y # c\nb: 1\n", {("a",): ["x", "y", "z"]}, "a:\n- x\n- y # c\n- z\nb: 1\n"),
        ("a:\n- p\n- q\nb: 1\n", {("a",): ["q", "p"]}, "a: [q, p]\nb: 1\n"),
        ("a: {}\n", {("a", "telegram:7"): "Zoë S."}, 'a: {"telegram:7": "Zoë S."}\n'),
        ("a: null # c\n", {("a", "b"): "yes"}, 'a: {b: "yes"} # c\n'),
    ],
)
def test_small_yaml(tmp_path: Path, text: str, changes: Changes, result: str) -> None:
    assert edited(tmp_path, "config.yaml", text, changes) == result


_JSON = """\
{
    "apiKey": "x",
    "pinPeerName": true,
    "weird": [1,  2.50e1],
    "userPeerAliases": {},
    "hosts": {
        "hermes": {"pin_peer_name": false, "workspaceId": "w", " x": 1},
        "other": {"pinPeerName": true, "pinUserPeer": false}
    }
}"""


@pytest.mark.parametrize(
    ("changes", "replaced"),
    [
        ({}, {}),
        (
            {("pinUserPeer",): True},
            {'"pinUserPeer": false, "workspaceId"': '"pinUserPeer": true, "workspaceId"'},
        ),
        ({("workspace",): "v"}, {'"workspaceId": "w"': '"workspaceId": "v"'}),
        ({("apiKey",): "y"}, {'"apiKey": "x"': '"apiKey": "y"'}),
        ({("recallMode",): "tools"}, {'" x": 1}': '" x": 1, "recallMode": "tools"}'}),
        (
            {("userPeerAliases", "telegram:7"): "mira"},
            {"{},": '{\n        "telegram:7": "mira"\n    },'},
        ),
        ({("userPeerAliases",): REMOVE}, {'"userPeerAliases": {},\n    ': ""}),
    ],
)
def test_honcho_json(tmp_path: Path, changes: Changes, replaced: dict[str, str]) -> None:
    """I5: a key is written where it stands; an old pin is never written again."""
    path = tmp_path / "honcho.json"
    path.write_text(_JSON)
    expected = (
        _JSON.replace('"pinPeerName": true, "pinUserPeer"', '"pinUserPeer"')
        .replace('"pinPeerName"', '"pinUserPeer"')
        .replace('"pin_peer_name"', '"pinUserPeer"')
    )
    for old, new in replaced.items():
        assert expected.count(old) == 1
        expected = expected.replace(old, new)
    edit_honcho(path, digest(path), changes, hosts=("hermes",))
    assert path.read_text() == expected


def test_new_honcho_json(tmp_path: Path) -> None:
    path = tmp_path / "new" / "honcho.json"
    first: Changes = {("userPeerAliases", "telegram:7"): "mira", ("peerName",): "Zoë"}
    made = edit_honcho(path, MISSING, first, hosts=("hermes_work", "hermes.work"))
    assert (
        path.read_text()
        == """\
{
  "hosts": {
    "hermes_work": {
      "userPeerAliases": {
        "telegram:7": "mira"
      },
      "peerName": "Zoë"
    }
  }
}
"""
    )
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    edit_honcho(path, made, {("userPeerAliases", "telegram:7"): REMOVE}, hosts=("hermes_work",))
    assert '"userPeerAliases": {},' in path.read_text()


def test_alias_with_blanks_around_is_found(tmp_path: Path) -> None:
    path = tmp_path / "honcho.json"
    path.write_text('{"userPeerAliases": {" 7 ": "mira", "8": "x"}}')
    edit_honcho(path, digest(path), {("userPeerAliases", "7"): "tobias"}, hosts=("hermes",))
    assert path.read_text() == '{"userPeerAliases": {" 7 ": "tobias", "8": "x"}}'


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("text", "changes", "result"),
    [
        ("# c\nexport A=1 # x\nB='y'\n", {"A": "2"}, "# c\nA=2\nB='y'\n"),
        ("A=1\nB=2", {"C": "3"}, "A=1\nB=2\nC=3\n"),
        ("A=1\nB=2\nA=3\n", {"A": "4"}, "B=2\nA=4\n"),
        ("A=1\nB=2\n", {"A": REMOVE, "Z": REMOVE}, "B=2\n"),
        ("", {"A": 'it\'s "q" \\'}, 'A="it\'s \\"q\\" \\\\"\n'),
    ],
)
def test_env(
    tmp_path: Path, text: str, changes: Mapping[str, Any], result: str, newline: str
) -> None:
    if not text and newline != "\n":
        return
    path = tmp_path / ".env"
    path.write_bytes(text.replace("\n", newline).encode())
    assert edit_env(path, digest(path), changes) == digest(path)
    assert path.read_bytes().decode() == result.replace("\n", newline)


def test_env_refuses_what_it_could_not_read_back(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    for changes in ({"A": "x\ny"}, {"A B": "x"}):
        with pytest.raises(ConfigurationError):
            edit_env(path, MISSING, changes)
    assert not path.exists()


def test_concurrent_change_is_detected(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("a: 1\n")
    read = digest(path)
    path.write_text("a: 1\nb: theirs\n")
    with pytest.raises(ConcurrentChangeError, match=r"config\.yaml: changed since it was read"):
        edit(path, read, {("a",): 2})
    assert path.read_text() == "a: 1\nb: theirs\n"
    with pytest.raises(ConcurrentChangeError):
        edit(path, MISSING, {("a",): 2})
    path.unlink()
    with pytest.raises(ConcurrentChangeError):
        edit(path, read, {("a",): 2})
    assert not path.exists()


def _count(path: Path, rounds: int) -> None:
    done = 0
    while done < rounds:
        seen = digest(path)
        count = int(path.read_text().split()[1])
        try:
            edit(path, seen, {("a",): count + 1})
        except ConcurrentChangeError:
            continue
        done += 1


def test_processes_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("a: 0\n")
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_count, args=(path, 20)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert path.read_text() == "a: 40\n"
    assert [one.name for one in tmp_path.iterdir()] == ["config.yaml"]


def test_link_and_mode_stay(tmp_path: Path) -> None:
    target = tmp_path / "real" / "c.yaml"
    target.parent.mkdir()
    target.write_text("a: 1\n")
    target.chmod(0o640)
    link = tmp_path / "config.yaml"
    link.symlink_to(target)
    edit(link, digest(link), {("a",): 2})
    assert link.is_symlink()
    assert target.read_text() == "a: 2\n"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert [one.name for one in target.parent.iterdir()] == ["c.yaml"]


def test_nothing_to_change_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("a: 1\n")
    before = path.stat()
    assert edit(path, digest(path), {("a",): 1}) == digest(path)
    assert path.stat().st_ino == before.st_ino


def test_crash_before_the_rename_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("a: 1\n")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(ConfigurationError, match=r"config\.yaml: cannot be written \(no space"):
        edit(path, digest(path), {("a",): 2})
    assert path.read_text() == "a: 1\n"
    assert [one.name for one in tmp_path.iterdir()] == ["config.yaml"]


def test_unwritable_place_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    path = tmp_path / "file" / "honcho.json"
    with pytest.raises(ConfigurationError, match=r"honcho\.json: cannot be written"):
        edit(path, MISSING, {("a",): 2})


def test_read_only_file_is_respected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("a: 1\n")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(ConfigurationError, match=r"config\.yaml: cannot be written \(permission"):
        edit(path, digest(path), {("a",): 2})
    assert path.read_text() == "a: 1\n"


@pytest.mark.parametrize(
    ("text", "changes", "message"),
    [
        ("a: 1\n", {("a", "b"): 2}, "a.b: cannot be changed safely"),
        ("- a\n", {("a",): 2}, "top level"),
        ("a: 1\na: 2\n", {("a",): 2}, "config.yaml:2: 'a' stands here"),
        ("a: 1\n", {("a",): "x\x7fy"}, "a: cannot be changed safely"),
    ],
)
def test_what_cannot_be_edited_stays(
    tmp_path: Path, text: str, changes: Changes, message: str
) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(text)
    with pytest.raises(ConfigurationError, match=message):
        edit(path, digest(path), changes)
    assert path.read_text() == text
