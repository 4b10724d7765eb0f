"""``hermes-gateway chat`` beside a running gateway: this terminal or pipe as a console of it."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from adapters.console.errors import ConsoleClosedError
from adapters.console.front import Front, first_of
from adapters.console.rendezvous import connect, same_user
from adapters.console.source import InputKind
from adapters.console.wire import (
    MAX_FRAME,
    AnswerFrame,
    DeltaFrame,
    LineFrame,
    NoticeFrame,
    WireError,
    encode,
    read_frame,
)
from gateway.model.ids import sortable_id

if TYPE_CHECKING:
    import socket
    from pathlib import Path

    from adapters.console.front import Streams
    from adapters.console.sink import Screen


async def attach(path: Path, streams: Streams) -> int:
    """Converse through the gateway that listens at ``path``; return the exit code.

    0 when the input has ended and the last answer is complete; 1, with a notice on standard
    error, when there is no such gateway or it went away.
    """
    front = Front(streams)
    if front.screen is None or front.kind is InputKind.OFF:
        front.notice("Nothing to read: standard input is closed or the null device.")
        return 0
    try:
        connection = connect(path)
    except OSError:
        front.notice(f"No gateway listens at {path}. Start one with: hermes-gateway run")
        return 1
    if not same_user(connection):
        connection.close()
        front.notice(f"The gateway at {path} belongs to another user.")
        return 1
    return await _converse(front, front.screen, connection)


async def _converse(front: Front, screen: Screen, connection: socket.socket) -> int:
    reader, writer = await asyncio.open_unix_connection(sock=connection, limit=MAX_FRAME)
    link = _Link(front, screen, writer)
    try:
        ended = await first_of(front.converse(link.ask), link.listen(reader))
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
    if ended == 0 or screen.gone.is_set():
        return 0
    front.notice("The gateway has stopped.")
    return 1


class _Link:
    """One connection: questions go out, answers come in."""

    def __init__(self, front: Front, screen: Screen, writer: asyncio.StreamWriter) -> None:
        self._front = front
        self._screen = screen
        self._writer = writer
        self._waiting: dict[str, asyncio.Event] = {}
        self._turn = self._known = ""

    async def ask(self, text: str, *, joinable: bool) -> asyncio.Event:
        """Send one message."""
        message = sortable_id("c")
        answered = self._waiting[message] = asyncio.Event()
        self._writer.write(encode(LineFrame(line=text, id=message, joinable=joinable)))
        return answered

    async def listen(self, reader: asyncio.StreamReader) -> None:
        """Show what comes in until the gateway goes away or the screen does."""
        try:
            while frame := await read_frame(reader):
                await self._take(frame)
        except (OSError, WireError, ConsoleClosedError):
            return

    async def _take(self, frame: object) -> None:
        match frame:
            case AnswerFrame():
                await self._screen.show(frame.piece())
                if frame.last:
                    for message in frame.to:
                        self._waiting.pop(message, asyncio.Event()).set()
            case DeltaFrame():
                known = self._known[: frame.keep] if frame.turn == self._turn else ""
                self._turn, self._known = frame.turn, known + frame.delta
                self._screen.progress(self._turn, self._known)
            case NoticeFrame():
                self._front.notice(frame.notice)
            case _:
                raise WireError("a gateway does not send lines")
