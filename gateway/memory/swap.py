"""Put a new content in a small file's place without losing what a stranger writes meanwhile.

Editors take no locks. So the new file and the old one are *exchanged* in one step, and what came
out is handed back: if it is not what was read before, somebody wrote in between. Where files
cannot be exchanged (a mounted file, another system), the file is replaced or overwritten.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import hashlib
import os
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_NEW_FILE_MODE = 0o600
_EXCHANGE, _HERE = 2, -100
_CANNOT_EXCHANGE = {
    *(errno.ENOENT, errno.EBUSY, errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EPERM),
}
_CANNOT_REPLACE = {errno.EBUSY, errno.EXDEV, errno.EACCES, errno.EPERM, errno.EROFS}
_DIGEST = 16
#: how long an editor that still has the old file open is waited for
_PATIENCE, _STEP = 1.0, 0.01

_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
_renameat2 = getattr(_libc, "renameat2", None)


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder's lock: the file itself is replaced, so a lock on it would not do."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def read(path: Path) -> bytes:
    """Return a file's bytes, none where there is no such file."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def leftovers(path: Path) -> list[bytes]:
    """Return what strangers wrote that a killed process had in its hands; call under the lock.

    ``forget`` afterwards, when it is safe in the file.
    """
    found = []
    for kept in _kept(path):
        data = kept.read_bytes()
        if _digest(data) not in kept.suffixes[-1]:
            found.append(data)
    return found


def forget(path: Path) -> None:
    """Remove what killed processes left."""
    for kept in (*_kept(path), *path.parent.glob(f".{path.name}.*.new")):
        kept.unlink(missing_ok=True)


def _kept(path: Path) -> list[Path]:
    return sorted(path.parent.glob(f".{path.name}.*.was-*"))


def swap(path: Path, data: bytes, base: bytes) -> bytes:
    """Give ``path`` the content ``data``; return what stood there, which should be ``base``.

    Call under the lock. A process that is killed leaves the old content or the new one, and
    what it displaced is found by ``leftovers`` until the caller says ``forget``: not before all
    of it is safe in the file. Raises ``OSError``; nothing is changed then.
    """
    try:
        fresh = _write(path, data, base)
    except OSError as error:
        if error.errno not in _CANNOT_REPLACE or not path.exists():
            raise
        return _overwrite(path, data)
    try:
        if _create(fresh, path):
            return b""
        if _exchange(fresh, path):
            return _released(fresh)
        return _replace(fresh, path, data)
    finally:
        _sync(path.parent)


def _write(path: Path, data: bytes, base: bytes) -> Path:
    """Write ``data`` beside ``path`` under a name that tells it from what it will displace."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".new", dir=path.parent)
    with open(handle, "wb") as file:
        file.write(data)
        file.flush()
        old = path.stat() if path.exists() else None
        os.fchmod(handle, old.st_mode & 0o7777 if old else _NEW_FILE_MODE)
        if old is not None:
            with contextlib.suppress(PermissionError):
                os.fchown(handle, old.st_uid, old.st_gid)
        os.fsync(handle)
    fresh = Path(name).with_suffix(f".was-{_digest(base)}-{_digest(data)}")
    os.rename(name, fresh)
    return fresh


def _create(fresh: Path, path: Path) -> bool:
    """Give a file that does not exist its name, unless somebody was faster."""
    try:
        os.link(fresh, path)
    except OSError:
        return False
    return True


def _exchange(fresh: Path, path: Path) -> bool:
    if _renameat2 is None:
        return False
    if _renameat2(_HERE, os.fsencode(fresh), _HERE, os.fsencode(path), _EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in _CANNOT_EXCHANGE:
        return False
    raise OSError(number, os.strerror(number), str(path))


def _released(displaced: Path) -> bytes:
    """Return a displaced file's content once nobody has it open for writing any more."""
    deadline = time.monotonic() + _PATIENCE
    with displaced.open("rb") as file:
        while not _alone(file.fileno()) and time.monotonic() < deadline:
            time.sleep(_STEP)
        return file.read()


def _alone(handle: int) -> bool:
    """Tell whether nobody else can write to an open file: a read lease is granted only then."""
    # who opened it now would send us this signal, and the default one kills
    fcntl.fcntl(handle, fcntl.F_SETSIG, signal.SIGURG)
    try:
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except OSError as error:
        return error.errno != errno.EAGAIN
    fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    return True


def _replace(fresh: Path, path: Path, data: bytes) -> bytes:
    displaced = read(path)
    try:
        os.rename(fresh, path)
    except OSError as error:
        if error.errno not in _CANNOT_REPLACE:
            raise
        return _overwrite(path, data)
    return displaced


def _overwrite(path: Path, data: bytes) -> bytes:
    """Write into the file itself, in one call: a kill leaves at worst empty lines at its end."""
    handle = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        displaced = os.pread(handle, os.fstat(handle).st_size, 0)
        os.pwrite(handle, data + b"\n" * max(0, len(displaced) - len(data)), 0)
        os.ftruncate(handle, len(data))
        os.fsync(handle)
    finally:
        os.close(handle)
    return displaced


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:_DIGEST]
