"""One process's own console: its input, its screen, and the conversation between the two."""

from __future__ import annotations

import asyncio
import contextlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from adapters.console.above import stderr_above
from adapters.console.descriptors import descriptor
from adapters.console.render import neutralised
from adapters.console.sink import StreamScreen
from adapters.console.source import MAX_LINE, InputKind, input_kind, read_lines
from gateway.text.clean import blank, clean

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from pathlib import Path
    from typing import Any, TextIO

    from adapters.console.sink import Screen
    from adapters.console.terminal import Terminal

GREETING = "Hermes Gateway. /help lists the commands; Ctrl-C stops an answer, Ctrl-D leaves."
_DUMB = ("dumb", "unknown")


class Ask(Protocol):
    """Hands in one message."""

    async def __call__(self, text: str, *, joinable: bool) -> asyncio.Event:
        """Return once the message is accepted; the event is set when its answer is complete."""
        ...


@dataclass(frozen=True, slots=True)
class Streams:
    """The standard streams; None where one is closed. ``history`` is a file of typed lines."""

    stdin: TextIO | None
    stdout: TextIO | None
    stderr: TextIO | None
    history: Path | None = None


class Front:
    """The person's end of the conversation, when ``kind`` is not ``OFF``."""

    def __init__(self, streams: Streams) -> None:
        """Decide what the streams are, which is not asked again later."""
        self._streams = streams
        self._input = descriptor(streams.stdin)
        output = descriptor(streams.stdout)
        self.kind = InputKind.OFF if output is None else input_kind(self._input)
        self._terminal = _terminal(streams) if self.kind is InputKind.TERMINAL else None
        self.screen = None if self.kind is InputKind.OFF else _screen(output, self._terminal)
        self._open: list[asyncio.Event] = []

    def notice(self, text: str) -> None:
        """Tell the person something about the console itself: never on a piped output."""
        with contextlib.suppress(OSError, ValueError):
            if self._terminal:
                self._terminal.print(neutralised(text) + "\n")
            elif self._streams.stderr:
                self._streams.stderr.write(text + "\n")
                self._streams.stderr.flush()

    async def converse(self, ask: Ask) -> None:
        """Hand in what is typed or piped in until it ends and the last answer is complete.

        Returns at once when the screen is gone. Errors of ``ask`` pass through.
        """
        if self.screen is None or self._input is None:
            return
        talk = self._type(self._terminal, ask) if self._terminal else self._feed(self._input, ask)
        await first_of(talk, self.screen.gone.wait())

    async def _feed(self, fd: int, ask: Ask) -> None:
        """Ask line by line; the lines of a pipe or file wait for the answer before them."""
        alone = self.kind is InputKind.STREAM
        try:
            async for line in read_lines(fd):
                if line.text is None:
                    self.notice(_too_long(line.number))
                    continue
                await self._ask(ask, line.text, joinable=not alone)
                if alone:
                    await self._answered()
        except OSError as error:
            self.notice(f"Standard input cannot be read: {error.strerror}.")
        await self._answered()

    async def _type(self, terminal: Terminal, ask: Ask) -> None:
        terminal.busy = self._busy
        terminal.print(GREETING + "\n")
        with stderr_above(terminal.print, self._streams.stderr):
            await first_of(terminal.run(), self._pump(terminal, ask))
            while not terminal.submitted.empty():
                await self._ask(ask, terminal.submitted.get_nowait(), joinable=True)
        await self._answered()

    async def _pump(self, terminal: Terminal, ask: Ask) -> None:
        while True:
            await self._ask(ask, await terminal.submitted.get(), joinable=True)

    async def _ask(self, ask: Ask, text: str, *, joinable: bool) -> None:
        text = clean(text).strip()
        gone = self.screen is None or self.screen.gone.is_set()
        if not gone and not blank(text):
            self._open.append(await ask(text, joinable=joinable))

    async def _answered(self) -> None:
        for answered in self._open:
            await answered.wait()
        self._open.clear()

    def _busy(self) -> bool:
        self._open = [answered for answered in self._open if not answered.is_set()]
        return bool(self._open)


def _terminal(streams: Streams) -> Terminal | None:
    """Return a prompt where the person can see one: on standard output, else standard error."""
    shown = (stream for stream in (streams.stdout, streams.stderr) if stream and stream.isatty())
    tty = next(shown, None)
    if streams.stdin is None or tty is None or os.environ.get("TERM", "").lower() in _DUMB:
        return None
    # A gateway that runs as a service, or reads a pipe, starts without the terminal library.
    from adapters.console.terminal import Terminal

    return Terminal(streams.stdin, tty, streams.history)


def _screen(output: int | None, terminal: Terminal | None) -> Screen | None:
    if output is None:
        return None
    if terminal is None or not os.isatty(output):
        return StreamScreen(output)
    from adapters.console.terminal import TerminalScreen

    return TerminalScreen(terminal)


def _too_long(number: int) -> str:
    return (
        f"Line {number} of the input is longer than {MAX_LINE:,} bytes and was not sent. "
        "Send it in shorter lines."
    )


async def first_of(*running: Coroutine[Any, Any, object]) -> int:
    """Run all until one ends, cancel the others, and return which one ended.

    The lowest when several did; an error of it passes through.
    """
    tasks = [asyncio.ensure_future(one) for one in running]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        ended = min(tasks.index(task) for task in done)
        tasks[ended].result()
        return ended
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
