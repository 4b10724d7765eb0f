"""Where messages come from: the kind of standard input, and the lines of a pipe or file."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from adapters.console.descriptors import read_some

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

#: bytes; a longer line is no message but a file in the wrong place
MAX_LINE = 1_048_576


class InputKind(StrEnum):
    """What standard input is."""

    TERMINAL = "terminal"
    #: a pipe, file or socket: one line is one message
    STREAM = "stream"
    #: closed, or the null device
    OFF = "off"


def input_kind(fd: int | None) -> InputKind:
    """Say what ``fd`` is. To be asked at the start, before another file can take its number."""
    if fd is None:
        return InputKind.OFF
    try:
        found = os.fstat(fd)
    except OSError:
        return InputKind.OFF
    if stat.S_ISCHR(found.st_mode) and found.st_rdev == os.stat(os.devnull).st_rdev:
        return InputKind.OFF
    return InputKind.TERMINAL if os.isatty(fd) else InputKind.STREAM


@dataclass(frozen=True, slots=True)
class Line:
    """One line of input without its end. ``text`` is None when it was longer than ``MAX_LINE``."""

    number: int
    text: str | None


class LineSplitter:
    """Cuts bytes into lines, holding at most ``limit`` bytes of an unfinished one."""

    def __init__(self, limit: int = MAX_LINE) -> None:
        self._limit = limit
        self._held = bytearray()
        self._overflown = False
        self._number = 0

    def feed(self, data: bytes) -> Iterator[Line]:
        """Take the next bytes and yield the lines that they complete."""
        *complete, rest = data.split(b"\n")
        for piece in complete:
            self._hold(piece)
            yield self._take()
        self._hold(rest)

    def end(self) -> Iterator[Line]:
        """Yield the last line if the input did not end with a newline."""
        if self._held or self._overflown:
            yield self._take()

    def _hold(self, piece: bytes) -> None:
        if self._overflown or len(self._held) + len(piece) > self._limit:
            self._overflown = True
            self._held.clear()
        else:
            self._held += piece

    def _take(self) -> Line:
        self._number += 1
        text = None if self._overflown else self._held.decode("utf-8", errors="replace")
        self._held.clear()
        self._overflown = False
        if text is not None:
            text = text.removesuffix("\r")
            if self._number == 1:
                text = text.removeprefix("\ufeff")
        return Line(self._number, text)


async def read_lines(fd: int) -> AsyncIterator[Line]:
    """Yield the lines of ``fd`` until its end. Raises OSError when it cannot be read."""
    splitter = LineSplitter()
    while data := await read_some(fd):
        for line in splitter.feed(data):
            yield line
    for line in splitter.end():
        yield line
