"""Pipes in the place of standard streams."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from adapters.console.descriptors import read_some
from adapters.console.front import Streams

if TYPE_CHECKING:
    from typing import Self, TextIO


class Pipes:
    """Three pipes: the console holds ``streams``, the test the other ends."""

    def __init__(self) -> None:
        read_in, self.stdin = os.pipe()
        self.stdout, write_out = os.pipe()
        self.stderr, write_err = os.pipe()
        self.streams = Streams(
            os.fdopen(read_in), os.fdopen(write_out, "w"), os.fdopen(write_err, "w")
        )
        self._held = [self.streams.stdin, self.streams.stdout, self.streams.stderr]
        self._ends = {self.stdin, self.stdout, self.stderr}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.hang_up()
        for end in list(self._ends):
            self.close(end)

    def write(self, data: bytes) -> None:
        """Write to the console's standard input what fits into a pipe."""
        assert os.write(self.stdin, data) == len(data)

    async def read(self, size: int) -> bytes:
        """Return the next ``size`` bytes of standard output."""
        data = b""
        while len(data) < size and (more := await read_some(self.stdout)):
            data += more
        return data

    def close(self, end: int) -> None:
        """Close one of the test's ends."""
        self._ends.discard(end)
        os.close(end)

    def adopt(self, stream: TextIO) -> None:
        """Close ``stream`` with the console's ends."""
        self._held.append(stream)

    def hang_up(self, *streams: TextIO | None) -> None:
        """Close ``streams``, or all of the console's ends."""
        for stream in streams or self._held:
            if stream:
                stream.close()

    def rest(self, end: int) -> bytes:
        """Return all that was written to ``stdout`` or ``stderr``, after ``hang_up``."""
        with open(end, "rb", closefd=False) as stream:
            return stream.read()
