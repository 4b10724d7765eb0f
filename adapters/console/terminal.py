"""A prompt at the bottom of a terminal, above it what was said, between them what is being said.

One prompt stays open for the whole conversation, so that the terminal never leaves raw mode in
between: a Ctrl-C is always a key, never a signal to the gateway.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from enum import StrEnum
from typing import TYPE_CHECKING

from prompt_toolkit.application import create_app_session
from prompt_toolkit.enums import DEFAULT_BUFFER
from prompt_toolkit.filters import has_focus
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.input import create_input
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.shortcuts import PromptSession

from adapters.console.draft import Draft
from adapters.console.errors import ConsoleClosedError
from adapters.console.render import neutralised
from adapters.console.style import styled
from gateway.model.outbound import RichText

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path
    from typing import TextIO

    from prompt_toolkit.key_binding import KeyPressEvent

    from adapters.console.sink import Piece

_PROMPT = "> "
_WAITING = "…"
_CONTINUED = "\n  "
STOP_COMMAND = "/stop"
LEAVE_HINT = "Press Ctrl-C again, or Ctrl-D, to leave."


class Press(StrEnum):
    """What a Ctrl-C means."""

    CLEAR = "clear"
    STOP = "stop"
    WARN = "warn"
    LEAVE = "leave"


def pressed(typed: str, *, busy: bool, before: Press | None) -> Press:
    """Decide about Ctrl-C. ``before`` is what the key just before it meant, if it was one."""
    if typed:
        return Press.CLEAR
    if busy and before not in (Press.STOP, Press.WARN):
        return Press.STOP
    return Press.LEAVE if before is Press.WARN else Press.WARN


class PrivateHistory(FileHistory):
    """What was typed, kept over restarts in a file that only its owner may read."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._path = path

    def load_history_strings(self) -> Iterable[str]:
        """Return the entries, newest first; none when the file cannot be read."""
        try:
            return super().load_history_strings()
        except OSError:
            return []

    def store_string(self, string: str) -> None:
        """Append an entry; a full or read-only disk costs the entry, not the conversation."""
        with contextlib.suppress(OSError):
            self._path.touch(mode=0o600)
            super().store_string(string)


class Terminal:
    """Reads messages with line editing and prints above the prompt. For the loop's thread only."""

    def __init__(self, stdin: TextIO, tty: TextIO, history: Path | None) -> None:
        self.submitted: asyncio.Queue[str] = asyncio.Queue()
        self.busy: Callable[[], bool] = lambda: False
        self._live = ""
        self._before: Press | None = None
        self._output = Vt100_Output.from_pty(tty, term=os.environ.get("TERM"), enable_bell=False)
        # Nobody needs the cursor's row, and terminals that never tell it would be waited for.
        self._output.enable_cpr = False
        kept: History = PrivateHistory(history) if history else InMemoryHistory()
        self._session: PromptSession[None] = PromptSession(
            self._message,
            history=kept,
            key_bindings=self._bindings(),
            input=create_input(stdin),
            output=self._output,
            reserve_space_for_menu=0,
            prompt_continuation=" " * len(_PROMPT),
        )

    @property
    def width(self) -> int:
        """Columns of the terminal."""
        return self._output.get_size().columns

    async def run(self) -> None:
        """Put what is typed into ``submitted`` until the person leaves."""
        with create_app_session(), contextlib.suppress(EOFError):
            await self._session.prompt_async(set_exception_handler=False, handle_sigint=False)

    def print(self, text: str) -> None:
        """Write whole lines above the prompt. Raises OSError when the terminal is gone."""
        if self._session.app.is_running:
            self._session.app.renderer.erase()
        self._output.write_raw(text)
        self._output.flush()
        self._session.app.invalidate()

    def live(self, text: str) -> None:
        """Show the end of ``text`` between the last line and the prompt, until changed."""
        self._live = text
        self._session.app.invalidate()

    def _message(self) -> str:
        if self._session.app.is_done:
            return _PROMPT
        rows = self._live_rows()
        if not rows and self.busy():
            rows = [_WAITING]
        return "\n".join([*rows, _PROMPT])

    def _live_rows(self) -> list[str]:
        """Return the last rows of the running text that leave room for the prompt."""
        size = self._output.get_size()
        visible = self._live[-size.rows * size.columns :]
        text = neutralised(visible.expandtabs(4)).rstrip()
        rows = styled(RichText(text), size.columns - 1).splitlines() if text else []
        return rows[-max(1, size.rows - 6) :]

    def _bindings(self) -> KeyBindings:
        bindings = KeyBindings()
        typing = has_focus(DEFAULT_BUFFER)
        bindings.add("enter", filter=typing)(self._on_enter)
        bindings.add("escape", "enter", filter=typing)(_on_newline)
        bindings.add("c-c", filter=typing)(self._on_interrupt)
        return bindings

    def _on_enter(self, event: KeyPressEvent) -> None:
        text = event.current_buffer.text
        if not text.strip():
            return
        event.current_buffer.reset(append_to_history=True)
        self._before = None
        self._hand_in(text)

    def _hand_in(self, text: str) -> None:
        self.print(_PROMPT + neutralised(text).replace("\n", _CONTINUED) + "\n")
        self.submitted.put_nowait(text)

    def _on_interrupt(self, event: KeyPressEvent) -> None:
        self._before = pressed(event.current_buffer.text, busy=self.busy(), before=self._before)
        match self._before:
            case Press.CLEAR:
                event.current_buffer.reset()
            case Press.STOP:
                self._hand_in(STOP_COMMAND)
            case Press.WARN:
                self.print(LEAVE_HINT + "\n")
            case Press.LEAVE:
                event.app.exit(exception=EOFError)


def _on_newline(event: KeyPressEvent) -> None:
    event.current_buffer.insert_text("\n")


class TerminalScreen:
    """Streams an answer: finished paragraphs scroll up, the rest stands at the prompt."""

    def __init__(self, terminal: Terminal) -> None:
        self.gone = asyncio.Event()
        self._terminal = terminal
        self._draft = Draft("")

    async def show(self, piece: Piece) -> None:
        """Print what of the part does not stand on the screen yet."""
        draft = self._draft_of(piece.turn)
        self._terminal.live("")
        self._print(draft.rest(piece.content))
        self._draft = Draft("")
        if self.gone.is_set():
            raise ConsoleClosedError("the terminal is gone")

    def progress(self, turn: str, text: str) -> None:
        """Print the paragraphs that are finished and keep the rest at the prompt."""
        draft = self._draft = self._draft_of(turn)
        if finished := draft.advance(text):
            self._print(finished)
        self._terminal.live(draft.tail(text))

    def _draft_of(self, turn: str) -> Draft:
        return self._draft if turn and self._draft.turn == turn else Draft(turn)

    def _print(self, content: RichText) -> None:
        if not content.text:
            return
        try:
            self._terminal.print(styled(content, self._terminal.width))
        except OSError:
            self.gone.set()
