"""Replace a settings file as a whole: atomically, under a lock, never over a stranger's change."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import tempfile
from typing import TYPE_CHECKING

from gateway.model.errors import ConfigurationError
from gateway.settings import files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_NEW_FILE_MODE = 0o600
_NEW_FOLDER_MODE = 0o700


class ConcurrentChangeError(ConfigurationError):
    """The file was changed since it was read."""

    code = "configuration_changed"


class UnwritableError(ConfigurationError):
    """The file cannot be written."""

    code = "configuration_unwritable"


def rewrite(path: Path, expected_digest: str, transform: Callable[[str], str]) -> str:
    """Give a file the text that ``transform`` makes of its present one; return the new digest.

    A link's target is replaced and keeps its mode and owner; a crash leaves the old file or the
    new one. Raises ``ConcurrentChangeError`` when the present content has another digest, and
    ``UnwritableError`` naming the file when it cannot be written; it is untouched then.
    """
    target = path.resolve()
    try:
        target.parent.mkdir(mode=_NEW_FOLDER_MODE, parents=True, exist_ok=True)
        with _locked(target.parent):
            return _rewrite_locked(path, target, expected_digest, transform)
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise UnwritableError(
            f"{path}: cannot be written ({reason}); make it writable for this user"
        ) from None


def _rewrite_locked(
    path: Path, target: Path, expected_digest: str, transform: Callable[[str], str]
) -> str:
    try:
        content = files.load(target) or files.Content("", files.MISSING)
    except files.UnreadableError as error:
        raise ConfigurationError(f"{path}: {error.problem}") from None
    if content.digest != expected_digest:
        raise ConcurrentChangeError(f"{path}: changed since it was read; look at it and try again")
    data = content.encode(transform(content.text))
    if files.hash_bytes(data) != content.digest:
        _replace_file(target, data)
    return files.hash_bytes(data)


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the folder's lock: the file itself is replaced, so a lock on it would not do."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
        os.fsync(handle)
    finally:
        os.close(handle)


def _replace_file(target: Path, data: bytes) -> None:
    """Put the new content in the file's place, with the old one's mode and owner."""
    old = target.stat() if target.exists() else None
    if old is not None and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with open(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(handle, old.st_mode & 0o7777 if old else _NEW_FILE_MODE)
            if old is not None:
                with contextlib.suppress(PermissionError):
                    os.fchown(handle, old.st_uid, old.st_gid)
            os.fsync(handle)
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        raise
