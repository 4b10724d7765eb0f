"""One gateway process for one home: an advisory file lock that dies with its process."""

from __future__ import annotations

import fcntl
import os
import time
from typing import TYPE_CHECKING

from gateway.model.errors import GatewayRunningError, StoreError

if TYPE_CHECKING:
    from pathlib import Path

#: seconds before each try to take the lock: a look by ``holder`` blocks it for moments only
_PAUSES = (0.0, 0.02, 0.02, 0.05, 0.1)


class ProcessLock:
    """Held by ``run`` and ``chat``; other commands only look whether it is held."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fd: int | None = None

    def acquire(self) -> None:
        """Take the lock or raise ``GatewayRunningError`` naming the process that has it."""
        try:
            fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StoreError(f"cannot open {self.path}: {error.strerror}") from error
        try:
            self._take(fd)
            os.ftruncate(fd, 0)
            os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
        except BaseException:
            os.close(fd)
            raise
        self._fd = fd

    def _take(self, fd: int) -> None:
        try:
            taken = any(_lock_after(pause, fd) for pause in _PAUSES)
        except OSError as error:
            raise StoreError(f"cannot lock {self.path}: {error.strerror}") from error
        if not taken:
            raise GatewayRunningError(
                f"another gateway (process {_owner(fd) or 'unknown'}) uses {self.path.parent}; "
                "stop it first, or give this one another HERMES_HOME"
            )

    def release(self) -> None:
        """Give the lock back; harmless when it is not held."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def holder(self) -> int | None:
        """Return the process id of the gateway that holds the lock, or None."""
        try:
            fd = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return _owner(fd)
        finally:
            os.close(fd)
        return None


def _lock_after(pause: float, fd: int) -> bool:
    time.sleep(pause)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _owner(fd: int) -> int | None:
    text = os.pread(fd, 32, 0).decode(errors="replace").strip()
    return int(text) if text.isdecimal() else None
