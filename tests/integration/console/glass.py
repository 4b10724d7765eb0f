"""A pseudo-terminal with somebody in front of it: types keys, and sees what a screen shows."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import re
import struct
import termios
from typing import TYPE_CHECKING

from adapters.console.descriptors import read_some
from adapters.console.front import Streams

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Self

_CODE = re.compile(r"\x1b\[(?P<private>\??)(?P<number>\d*)[\d;]*(?P<verb>[A-Za-z])|\x1b[=>]")


class Screen:
    """The few terminal codes that prompts use, on a page without an end."""

    def __init__(self, columns: int) -> None:
        self._columns = columns
        self._rows: list[list[str]] = [[]]
        self._row = self._column = 0

    @property
    def lines(self) -> list[str]:
        """What stands on the page, without blanks at the ends of lines."""
        return ["".join(row).rstrip() for row in self._rows]

    def feed(self, text: str) -> None:
        """Obey codes and put characters."""
        at = 0
        for code in _CODE.finditer(text):
            self._put(text[at : code.start()])
            if not code["private"]:
                self._obey(code["verb"] or "", int(code["number"] or 1))
            at = code.end()
        self._put(text[at:])

    def _put(self, text: str) -> None:
        for character in text:
            if character == "\n":
                self._row += 1
            elif character == "\r":
                self._column = 0
            elif character == "\b":
                self._column = max(0, self._column - 1)
            elif character.isprintable():
                self._print(character)
            while self._row >= len(self._rows):
                self._rows.append([])

    def _print(self, character: str) -> None:
        if self._column >= self._columns:
            self._column = 0
            self._row += 1
            self._rows += [[]] * (self._row >= len(self._rows))
        row = self._rows[self._row] = list(self._rows[self._row])
        row += [" "] * (self._column + 1 - len(row))
        row[self._column] = character
        self._column += 1

    def _obey(self, verb: str, number: int) -> None:
        match verb:
            case "A":
                self._row = max(0, self._row - number)
            case "C":
                self._column += number
            case "D":
                self._column = max(0, self._column - number)
            case "J":
                del self._rows[self._row + 1 :]
                del self._rows[self._row][self._column :]
            case "K":
                del self._rows[self._row][self._column :]


class Person:
    """Sits at the terminal whose other side is ``streams``."""

    def __init__(self, history: Path | None = None, *, columns: int = 60, rows: int = 20) -> None:
        self._master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("4H", rows, columns, 0, 0))
        self._slave = slave
        self.streams = Streams(
            os.fdopen(os.dup(slave)),
            os.fdopen(os.dup(slave), "w"),
            os.fdopen(os.dup(slave), "w"),
            history,
        )
        self.raw = ""
        self._changed = asyncio.Event()
        self._screen = Screen(columns)

    async def __aenter__(self) -> Self:
        self._watching = asyncio.ensure_future(self._watch())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._watching.cancel()
        await asyncio.gather(self._watching, return_exceptions=True)
        for stream in (self.streams.stdin, self.streams.stdout, self.streams.stderr):
            if stream:
                stream.close()
        os.close(self._slave)
        with contextlib.suppress(OSError):
            os.close(self._master)

    @property
    def lines(self) -> list[str]:
        """What the person sees, scrolled-out lines included, blank ones left out."""
        return [line for line in self._screen.lines if line]

    @property
    def settings(self) -> list[object]:
        """The terminal's mode."""
        return list(termios.tcgetattr(self._slave))

    def type(self, keys: str) -> None:
        """Press keys: ``\\r`` is Enter, ``\\x03`` Ctrl-C, ``\\x04`` Ctrl-D."""
        os.write(self._master, keys.encode())

    def paste(self, text: str) -> None:
        """Paste as a terminal does that marks pastes."""
        self.type(f"\x1b[200~{text}\x1b[201~")

    async def sees(self, *lines: str) -> None:
        """Wait until the page ends with ``lines``."""
        try:
            await self.until(lambda: self.lines[-len(lines) :] == list(lines), 15)
        except TimeoutError:
            raise AssertionError(f"expected {lines} at the end of {self.lines}") from None

    async def until(self, reached: Callable[[], bool], seconds: float) -> None:
        """Wait for what was shown to be as wanted, looking after each change."""
        async with asyncio.timeout(seconds):
            while not reached():
                self._changed.clear()
                await self._changed.wait()

    async def _watch(self) -> None:
        while data := await read_some(self._master):
            text = data.decode(errors="replace")
            self.raw += text
            self._screen.feed(text)
            self._changed.set()
