"""The running gateway's side of attached consoles."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Protocol

from adapters.console.errors import ConsoleClosedError
from adapters.console.rendezvous import listen, same_user
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
from gateway.model.ids import MessageId

if TYPE_CHECKING:
    from pathlib import Path

    from adapters.console.sink import Piece, Screen
    from adapters.console.wire import Frame

#: bytes that a console which does not read may leave waiting: for deltas, and at all
_ENOUGH_WAITING = 65_536
_MOST_WAITING = MAX_FRAME


class Receive(Protocol):
    """Takes a message from an attached console."""

    async def __call__(
        self, text: str, *, message: MessageId, screen: Screen, joinable: bool
    ) -> object:
        """Return once the message is accepted."""
        ...


class AttachedScreen:
    """The far end of one attached console. It never makes the gateway wait."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self.gone = asyncio.Event()
        self._writer = writer
        self._turn = self._known = ""

    async def show(self, piece: Piece) -> None:
        """Hand the part over; a console that reads no more is cut off."""
        self._write(AnswerFrame.of(piece))
        if self.gone.is_set():
            raise ConsoleClosedError

    def progress(self, turn: str, text: str) -> None:
        """Send what was added to the running answer."""
        if self._waiting > _ENOUGH_WAITING and text:
            return
        known = self._known if turn == self._turn else ""
        keep = len(known) if text.startswith(known) else 0
        self._turn, self._known = turn, text
        self._write(DeltaFrame(turn=turn, keep=keep, delta=text[keep:]))

    def notice(self, text: str) -> None:
        """Say something about the console itself."""
        self._write(NoticeFrame(notice=text))

    def close(self) -> None:
        """End the connection; what was written is still sent."""
        self.gone.set()
        self._writer.close()

    @property
    def _waiting(self) -> int:
        return self._writer.transport.get_write_buffer_size()

    def _write(self, frame: Frame) -> None:
        if self._writer.is_closing() or self._waiting > _MOST_WAITING:
            self.gone.set()
            self._writer.transport.abort()
        else:
            self._writer.write(encode(frame))


class AttachServer:
    """Listens at the socket; each connection is one more screen of the conversation."""

    def __init__(self, path: Path, receive: Receive) -> None:
        self._path = path
        self._receive = receive
        self._server: asyncio.Server | None = None
        self._connections: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        #: oldest first
        self.screens: list[AttachedScreen] = []

    async def start(self) -> None:
        """Listen. Raises OSError when the socket cannot be made."""
        server = listen(self._path)
        self._server = await asyncio.start_unix_server(
            self._connected, sock=server, limit=MAX_FRAME
        )

    async def close(self) -> None:
        """Stop listening, remove the socket and end all connections."""
        if self._server is None:
            return
        self._server.close()
        with contextlib.suppress(OSError):
            self._path.unlink()
        for task, writer in self._connections.items():
            task.cancel()
            writer.close()
        closing = (writer.wait_closed() for writer in self._connections.values())
        await asyncio.gather(*self._connections, *closing, return_exceptions=True)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._attend(reader, writer))
        self._connections[task] = writer
        task.add_done_callback(self._connections.pop)

    async def _attend(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        screen = AttachedScreen(writer)
        if same_user(writer.get_extra_info("socket")):
            self.screens.append(screen)
            try:
                await self._take_lines(reader, screen)
            finally:
                self.screens.remove(screen)
                screen.close()
        else:
            screen.notice("This gateway belongs to another user.")
            screen.close()

    async def _take_lines(self, reader: asyncio.StreamReader, screen: AttachedScreen) -> None:
        try:
            while frame := await read_frame(reader):
                if not isinstance(frame, LineFrame):
                    raise WireError("a console may send lines only")
                await self._receive(
                    frame.line,
                    message=MessageId(frame.id),
                    screen=screen,
                    joinable=frame.joinable,
                )
        except OSError:
            return
        except WireError as error:
            screen.notice(f"The console was cut off: {error}.")
