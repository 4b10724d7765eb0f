"""Read and write inherited file descriptors without blocking the loop.

Their flags are left alone: ``O_NONBLOCK`` would change the descriptor for the shell and for
every other process that shares it. No call is made that a silent peer could hold up, so that
nothing hangs when the process ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import select
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TextIO

_READ_SIZE = 65_536
#: a pipe that is ready takes this much at once without blocking
_WRITE_SIZE = select.PIPE_BUF


def descriptor(stream: TextIO | None) -> int | None:
    """Return the stream's descriptor, None when it is closed or has none."""
    if stream is None or stream.closed:
        return None
    try:
        return stream.fileno()
    except (io.UnsupportedOperation, AttributeError):
        return None


async def read_some(fd: int) -> bytes:
    """Return what can be read now, waiting for the first byte; b"" at the end. Raises OSError."""
    loop = asyncio.get_running_loop()
    if await _ready(loop.add_reader, loop.remove_reader, fd):
        return os.read(fd, _READ_SIZE)
    return await asyncio.to_thread(os.read, fd, _READ_SIZE)


async def write_all(fd: int, data: bytes) -> None:
    """Write all of ``data``; one writer at a time. Raises OSError (BrokenPipeError: no reader)."""
    loop = asyncio.get_running_loop()
    rest = memoryview(data)
    while rest:
        if await _ready(loop.add_writer, loop.remove_writer, fd):
            with contextlib.suppress(BlockingIOError):
                rest = rest[os.write(fd, rest[:_WRITE_SIZE]) :]
        else:
            rest = rest[await asyncio.to_thread(os.write, fd, rest) :]


async def _ready(watch: Callable[..., Any], unwatch: Callable[[int], Any], fd: int) -> bool:
    """Wait until ``fd`` is ready; False at once for a regular file, which always is."""
    ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    try:
        watch(fd, _resolve, ready)
    except PermissionError:
        return False
    try:
        await ready
    finally:
        unwatch(fd)
    return True


def _resolve(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)
