"""Where answers are shown: the contract of a screen, and the one for a pipe or file."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from adapters.console.descriptors import write_all
from adapters.console.errors import ConsoleClosedError
from adapters.console.render import plain

if TYPE_CHECKING:
    from gateway.model.outbound import RichText


@dataclass(frozen=True, slots=True)
class Piece:
    """One part of an answer, as a screen gets it."""

    content: RichText
    #: the turn it belongs to, "" for none
    turn: str = ""
    #: the messages of this screen that it answers: several when they were joined
    to: tuple[str, ...] = ()
    #: nothing more comes for those messages
    last: bool = True


class Screen(Protocol):
    """One person's view of the conversation."""

    @property
    def gone(self) -> asyncio.Event:
        """Set for good when nothing can be shown any more."""
        ...

    async def show(self, piece: Piece) -> None:
        """Show a part once and for good. Raises ``ConsoleClosedError``."""
        ...

    def progress(self, turn: str, text: str) -> None:
        """Show ``text``, the whole answer so far, until ``show`` or "". Never fails or waits."""
        ...


class StreamScreen:
    """Standard output as a pipe or file, or a terminal without a prompt: whole answers only."""

    def __init__(self, fd: int) -> None:
        self.gone = asyncio.Event()
        self._fd = fd
        self._one_at_a_time = asyncio.Lock()

    async def show(self, piece: Piece) -> None:
        """Write the answer and a newline."""
        text = self._rendered(piece.content).rstrip("\n") + "\n"
        async with self._one_at_a_time:
            if self.gone.is_set():
                raise ConsoleClosedError
            try:
                await write_all(self._fd, text.encode("utf-8", errors="replace"))
            except OSError as error:
                self.gone.set()
                raise ConsoleClosedError(f"standard output: {error.strerror}") from error

    def progress(self, turn: str, text: str) -> None:
        """Show nothing: each answer stands complete and once."""

    def _rendered(self, content: RichText) -> str:
        if os.isatty(self._fd):
            from adapters.console.style import styled

            return styled(content, os.get_terminal_size(self._fd).columns or 80)
        return plain(content)
