"""Log lines while a prompt is open: they scroll above it instead of across it."""

from __future__ import annotations

import asyncio
import contextlib
import io
import sys
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TextIO


class AbovePrompt(io.TextIOBase):
    """Stands in for a stream: hands whole lines to the loop's thread, from any thread."""

    def __init__(self, stream: TextIO, show: Callable[[str], None]) -> None:
        self._stream = stream
        self._show = show
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._held = ""
        self._open = True

    def write(self, text: str) -> int:
        """Show the lines that are complete; after ``release``, write through."""
        with self._lock:
            if not self._open:
                return self._stream.write(text)
            lines, newline, self._held = (self._held + text).rpartition("\n")
            if newline:
                self._loop.call_soon_threadsafe(self._print, lines + newline)
        return len(text)

    def flush(self) -> None:
        """Flush the stream behind; an unfinished line waits for its end."""
        self._stream.flush()

    def isatty(self) -> bool:
        """Return True: only a terminal is stood in for."""
        return True

    def fileno(self) -> int:
        """Return the descriptor behind."""
        return self._stream.fileno()

    def release(self) -> None:
        """Write what is held, and from now on straight through, for who kept a reference."""
        with self._lock:
            self._open = False
            self._stream.write(self._held)

    def _print(self, lines: str) -> None:
        with contextlib.suppress(OSError):
            self._show(lines)


@contextlib.contextmanager
def stderr_above(show: Callable[[str], None], stream: TextIO | None) -> Iterator[None]:
    """Let ``show`` print what is written to ``sys.stderr``, if ``stream`` is that terminal."""
    if stream is None or stream is not sys.stderr or not stream.isatty():
        yield
        return
    above = AbovePrompt(stream, show)
    sys.stderr = above
    try:
        yield
    finally:
        sys.stderr = stream
        above.release()
