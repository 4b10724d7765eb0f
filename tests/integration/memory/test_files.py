"""The memory files on a real disk: outside edits, links, mounts, kills, many hands at once."""

from __future__ import annotations

import errno
import os
import random
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gateway.memory import swap
from gateway.memory.entries import Action, Change, ChangeError, Target
from gateway.memory.files import FileRules, MemoryFiles, read, update
from gateway.model.errors import ToolError
from gateway.model.ids import PeerId
from gateway.settings.home import Home

if TYPE_CHECKING:
    from gateway.memory.entries import Entries

MIRA, TOBIAS = PeerId("mira"), PeerId("tobias")


def add(path: Path, *new: str) -> Entries:
    return update(path, lambda entries: (*entries, *new))[0]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memories" / "MEMORY.md"


def names(path: Path) -> list[str]:
    return sorted(each.name for each in path.parent.iterdir())


async def test_the_owner_has_the_homes_files_and_others_their_own(tmp_path: Path) -> None:
    home = Home(tmp_path, tmp_path)
    files = MemoryFiles(home, lambda: FileRules(owner=MIRA))
    for peer in (MIRA, TOBIAS):
        await files.change(peer, Change(Action.ADD, Target.USER, f"is {peer}"))
    assert (home.memories / "USER.md").read_text() == "is mira\n"
    assert (home.people / "tobias" / "memories" / "USER.md").read_text() == "is tobias\n"
    assert await files.read(TOBIAS, Target.USER) == ("is tobias",)
    assert await files.read(TOBIAS, Target.MEMORY) == ()


async def test_without_an_owner_nobody_gets_the_homes_files(tmp_path: Path) -> None:
    """H-53: who comes first is not the owner."""
    home = Home(tmp_path, tmp_path)
    home.memories.mkdir()
    (home.memories / "USER.md").write_text("secret of the owner")
    files = MemoryFiles(home, lambda: FileRules(owner=None))
    assert await files.read(TOBIAS, Target.USER) == ()


async def test_the_limits_are_those_of_the_file(tmp_path: Path) -> None:
    files = MemoryFiles(Home(tmp_path, tmp_path), lambda: FileRules(owner=MIRA))
    long = "x" * 1400
    assert await files.change(MIRA, Change(Action.ADD, Target.MEMORY, long)) == ((long,), True)
    assert await files.change(MIRA, Change(Action.ADD, Target.MEMORY, long)) == ((long,), False)
    with pytest.raises(ChangeError, match=r"User profile at 0/1,375 chars\. Adding"):
        await files.change(MIRA, Change(Action.ADD, Target.USER, long))


def test_files_and_folders_are_the_owners_alone(path: Path) -> None:
    add(path, "one")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    path.chmod(0o644)
    add(path, "two")
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert names(path) == ["MEMORY.md"]


def test_an_edit_by_hand_between_two_writes_is_kept(path: Path) -> None:
    add(path, "one", "two")
    path.write_text("# by hand\r\n§\r\ntwo, but better")
    assert add(path, "three") == ("# by hand", "two, but better", "three")
    path.unlink()
    assert read(path) == ()
    assert add(path, "four") == ("four",)
    assert path.read_text() == "four\n"


@pytest.mark.parametrize("edit", ["§\nby hand\n", ""])
def test_an_edit_in_the_very_middle_of_a_write_is_kept(path: Path, edit: str) -> None:
    add(path, "one", "two")
    fresh = path.with_name("editor")

    def make(entries: Entries) -> Entries:
        fresh.write_text(f"two\n{edit}")
        fresh.replace(path)
        return (*entries, "three")

    kept = ("by hand",) if edit else ()
    assert update(path, make)[0] == ("two", "three", *kept)
    assert read(path) == ("two", "three", *kept)
    assert names(path) == ["MEMORY.md"]


def test_a_file_deleted_in_the_middle_of_a_write_starts_empty(path: Path) -> None:
    add(path, "one")

    def make(entries: Entries) -> Entries:
        path.unlink()
        return (*entries, "two")

    assert update(path, make)[0] == ("two",)


def test_a_link_stays_a_link(path: Path, tmp_path: Path) -> None:
    target = tmp_path / "synced" / "notes.md"
    add(target, "one")
    path.parent.mkdir()
    path.symlink_to(target)
    assert add(path, "two") == ("one", "two")
    assert path.is_symlink()
    assert read(target) == ("one", "two")


@pytest.mark.parametrize("number", [errno.EBUSY, errno.EXDEV])
def test_a_mounted_file_is_written_in_place(
    path: Path, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is a mount of its own can be written to, but not be renamed over."""
    add(path, "one", "two, which is longer")
    inode = path.stat().st_ino
    rename = os.rename

    def refuse(old: str, new: str | Path) -> None:
        if new == path:
            raise OSError(number, os.strerror(number))
        rename(old, new)

    monkeypatch.setattr(os, "rename", refuse)
    monkeypatch.setattr(swap, "_renameat2", None)
    assert add(path, "three")[-1] == "three"
    update(path, lambda entries: entries[:1])
    assert path.read_text() == "one\n"
    assert path.stat().st_ino == inode
    assert names(path) == ["MEMORY.md"]


def test_a_folder_without_exchange_still_loses_nothing_it_saw(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(swap, "_renameat2", None)
    add(path, "one")
    path.write_text("one\n§\nby hand")
    assert add(path, "two") == ("one", "by hand", "two")


def test_what_cannot_be_written_is_said_and_left_alone(path: Path) -> None:
    path.mkdir(parents=True)
    with pytest.raises(ToolError, match=r"MEMORY\.md cannot be used \(is a directory\)"):
        add(path, "one")
    path.rmdir()
    path.write_bytes(b"caf\xe9")
    with pytest.raises(ToolError, match=r"MEMORY\.md is not UTF-8"):
        add(path, "one")
    assert path.read_bytes() == b"caf\xe9"


def test_a_kill_between_finding_an_edit_and_writing_it_loses_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What came out is kept on the disk until all of it stands in the file."""

    class Killed(BaseException):
        pass

    add(path, "one")
    real, calls = swap.swap, []

    def die_the_second_time(*args: bytes) -> bytes:
        calls.append(args)
        if len(calls) > 1:
            raise Killed
        return real(*args)  # type: ignore[arg-type]  # as they came

    def make(entries: Entries) -> Entries:
        with path.open("a") as editor:
            editor.write("§\nby hand\n")
        return (*entries, "two")

    with monkeypatch.context() as patch:
        patch.setattr(swap, "swap", die_the_second_time)
        with pytest.raises(Killed):
            update(path, make)
    assert read(path) == ("one", "two", "by hand")
    assert names(path) == ["MEMORY.md"]


@pytest.mark.parametrize("killed_after", ["preparing", "naming", "exchanging"])
def test_a_kill_in_the_middle_loses_nothing(
    path: Path, killed_after: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the dead process left is told apart, and an edit that it had displaced comes back."""

    class Killed(BaseException):
        pass

    def die(*_: object) -> None:
        raise Killed

    add(path, "one")
    step = {"preparing": (os, "rename"), "naming": (swap, "_create")}
    where, name = step.get(killed_after, (swap, "_released"))
    with monkeypatch.context() as patch:
        patch.setattr(where, name, die)
        patch.setattr(Path, "unlink", lambda *_, **__: None)

        def make(entries: Entries) -> Entries:
            with path.open("a") as editor:
                editor.write("§\nby hand\n")
            return (*entries, "two")

        with pytest.raises(Killed):
            update(path, make)
    assert set(read(path)) - {"two"} == {"one", "by hand"}
    assert names(path) == ["MEMORY.md"]


def _hand(kind: str, path: Path, name: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.integration.memory.hands", kind, str(path), name]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def _written(process: subprocess.Popen[str], count: int) -> list[str]:
    """Return the first ``count`` entries that a process says are written."""
    assert process.stdout is not None
    return [line.strip() for _, line in zip(range(count), process.stdout, strict=False)]


@pytest.mark.parametrize("seed", range(3))
def test_two_writers_an_editor_and_a_kill_never_lose_an_entry(path: Path, seed: int) -> None:
    path.parent.mkdir()
    chance = random.Random(seed)
    hands = [_hand("write", path, "ada"), _hand("write", path, "bo"), _hand("edit", path, "eve")]
    victims = [_hand("write", path, f"victim{number}") for number in range(2)]
    written = []
    for victim in victims:
        written += _written(victim, chance.randint(1, 6))
        victim.send_signal(signal.SIGKILL)
        written += [line.strip() for line in victim.stdout or () if line.endswith("\n")]
    for hand in hands:
        written += _written(hand, 8)
    for hand in hands:
        hand.send_signal(signal.SIGKILL)
        written += [line.strip() for line in hand.stdout or () if line.endswith("\n")]
    for hand in (*hands, *victims):
        hand.wait()
        assert hand.stdout is not None
        hand.stdout.close()
    found = read(path)
    assert set(written) - set(found) == set()
    assert len(found) == len(set(found))
    assert names(path) == ["MEMORY.md"]
