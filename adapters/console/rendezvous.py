"""The unix socket by which consoles find the running gateway; for its owner alone."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: bytes that every system takes as a socket's address
_SHORT = 100
_CREDENTIALS = struct.Struct("3i")


def listen(path: Path) -> socket.socket:
    """Bind and return a listening socket with mode 0600.

    A socket file that nobody answers at is replaced. Raises OSError: ``FileExistsError`` when
    somebody does, or when the file is no socket.
    """
    with _address(path) as address:
        if path.is_socket() and not _answers(address):
            path.unlink()
        server = _new_socket()
        try:
            # A file of that name is never replaced; and nobody can connect before listen().
            server.bind(address)
            path.chmod(0o600)
            server.listen()
        except OSError as error:
            server.close()
            if path.exists():
                raise FileExistsError(f"{path} is in use") from error
            raise
    return server


def connect(path: Path) -> socket.socket:
    """Return a connection to the gateway that listens at ``path``. Raises OSError."""
    with _address(path) as address:
        client = _new_socket()
        try:
            client.connect(address)
        except OSError:
            client.close()
            raise
    client.setblocking(False)
    return client


def same_user(peer: socket.socket) -> bool:
    """Say whether the process at the other end runs as our user; root is somebody else."""
    if sys.platform != "linux":
        return True
    data = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    _pid, uid, _gid = _CREDENTIALS.unpack(data)
    return bool(uid == os.geteuid())


def _new_socket() -> socket.socket:
    return socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)


def _answers(address: str) -> bool:
    probe = _new_socket()
    with contextlib.closing(probe):
        try:
            probe.connect(address)
        except ConnectionRefusedError:
            return False
    return True


@contextlib.contextmanager
def _address(path: Path) -> Iterator[str]:
    """Give an address for ``path`` that fits a socket, however deep the home lies."""
    if len(os.fsencode(path)) <= _SHORT or sys.platform != "linux":
        yield str(path)
        return
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)
