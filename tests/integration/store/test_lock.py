"""One gateway for one home: a lock that dies with its process, and can be looked at."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gateway.model.errors import GatewayRunningError, StoreError
from gateway.store.lock import ProcessLock

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[3]
HOLDING = """
import sys
from pathlib import Path
from gateway.store.lock import ProcessLock
lock = ProcessLock(Path(sys.argv[1]))
lock.acquire()
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "gateway.lock"


@contextmanager
def another(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Run a process that holds the lock."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDING, path],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_a_second_gateway_is_refused_by_name_until_the_first_is_gone(path: Path) -> None:
    lock = ProcessLock(path)
    with another(path) as process:
        said = f"another gateway \\(process {process.pid}\\) uses {path.parent}; stop it first"
        with pytest.raises(GatewayRunningError, match=said):
            lock.acquire()
        assert lock.holder() == process.pid
    assert path.read_text() == f"{process.pid}\n"
    assert lock.holder() is None
    lock.acquire()
    assert path.read_text() == f"{os.getpid()}\n"
    assert ProcessLock(path).holder() == os.getpid()
    lock.release()
    lock.release()
    assert lock.holder() is None


def test_a_lock_is_taken_once_in_one_process_too(path: Path) -> None:
    first, second = ProcessLock(path), ProcessLock(path)
    first.acquire()
    with pytest.raises(GatewayRunningError, match=f"process {os.getpid()}"):
        second.acquire()
    first.release()
    second.acquire()
    second.release()


def test_the_lock_is_not_left_to_children(path: Path) -> None:
    lock = ProcessLock(path)
    lock.acquire()
    with subprocess.Popen(
        ["/bin/cat"], 0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, close_fds=False
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(b"alive")
        assert child.stdout.read(5) == b"alive"
        lock.release()
        assert ProcessLock(path).holder() is None
        child.kill()


def test_a_look_is_not_taken_for_a_gateway(path: Path) -> None:
    path.touch()
    looking = os.open(path, os.O_RDONLY)
    fcntl.flock(looking, fcntl.LOCK_SH)
    done = threading.Timer(0.03, os.close, [looking])
    done.start()
    lock = ProcessLock(path)
    lock.acquire()
    done.join()
    assert lock.holder() == os.getpid()
    lock.release()


@pytest.mark.parametrize("content", ["", "garbage", "-5", "12 34"])
def test_a_holder_without_a_readable_number_is_unknown(path: Path, content: str) -> None:
    path.write_text(content)
    holding = os.open(path, os.O_RDONLY)
    fcntl.flock(holding, fcntl.LOCK_EX)
    with pytest.raises(GatewayRunningError, match=r"process unknown"):
        ProcessLock(path).acquire()
    assert ProcessLock(path).holder() is None
    os.close(holding)


def test_no_file_means_no_gateway(path: Path) -> None:
    assert ProcessLock(path).holder() is None
    assert not path.exists()


def test_the_file_is_for_its_owner_only(path: Path) -> None:
    lock = ProcessLock(path)
    lock.acquire()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    lock.release()


def test_a_folder_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"cannot open .*none/gateway.lock: No such file"):
        ProcessLock(tmp_path / "none" / "gateway.lock").acquire()


def test_a_file_system_without_locks_is_said(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(StoreError, match=r"cannot lock .*No locks available"):
        ProcessLock(path).acquire()
