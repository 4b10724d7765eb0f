"""The console as an adapter: its own terminal or pipe, and the consoles attached by socket."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from adapters.console.desk import Desk
from adapters.console.errors import ConsoleClosedError, NoConsoleError, NoFilesError
from adapters.console.front import Front, Streams
from adapters.console.inlet import Inlet
from adapters.console.manifest import CAPABILITIES, PLATFORM
from adapters.console.parse import ACCOUNT, PLACE
from adapters.console.serve import AttachServer
from adapters.console.sink import Piece
from gateway.model.ids import MessageId, sortable_id
from gateway.model.outbound import Receipt, RichText
from gateway.ports import AdapterStatus, ConnectionState
from gateway.text.clean import clean

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping
    from pathlib import Path

    from adapters.console.desk import Question
    from adapters.console.serve import Receive
    from adapters.console.sink import Screen
    from adapters.console.source import InputKind
    from gateway.model.capabilities import Capabilities
    from gateway.model.events import Attachment
    from gateway.model.ids import AccountId, PlaceId, PlatformName, TurnId
    from gateway.model.outbound import Address, Part
    from gateway.ports import Clock, Intake, Preview
    from gateway.settings.schema import ConsoleSettings


class ConsoleAdapter:
    """One person's conversation, over any number of consoles.

    The core owes it one thing: every message that ``Intake.accept`` took must come to at least
    one ``Part`` whose ``reply_to`` is that message and whose ``last`` is true: answers, also
    empty ones, replies to commands, refusals and failures alike. A turn that joins several
    messages answers the last of them. A piped line is held back until the one before it has
    got that part.
    """

    platform: PlatformName = PLATFORM
    account: AccountId = ACCOUNT
    capabilities: Capabilities = CAPABILITIES

    def __init__(
        self,
        streams: Streams,
        *,
        clock: Clock,
        socket_path: Path | None = None,
        place: PlaceId = PLACE,
    ) -> None:
        """Look at the standard streams at once; ``socket_path`` None: no console can attach."""
        self.status = AdapterStatus(ConnectionState.STARTING, since=clock.now())
        self._front = Front(streams)
        self._clock = clock
        self._place = place
        self._desk = Desk()
        self._socket_path = socket_path
        self._server: AttachServer | None = None

    @property
    def input_kind(self) -> InputKind:
        """What standard input is; ``OFF``: ``run`` never returns by itself."""
        return self._front.kind

    async def run(self, intake: Intake) -> None:
        """Converse until the input has ended and the last answer is complete.

        Attached consoles are served until ``aclose``, also after this has returned.
        """
        inlet = Inlet(
            intake, self._desk, clock=self._clock, place=self._place, notice=self._front.notice
        )
        await self._listen(inlet.receive)
        self._set_status(ConnectionState.CONNECTED, f"input: {self._front.kind}")
        screen = self._front.screen
        if screen is None:
            await asyncio.Event().wait()
            return

        async def ask(text: str, *, joinable: bool) -> asyncio.Event:
            message = MessageId(sortable_id("c"))
            return await inlet.receive(text, message=message, screen=screen, joinable=joinable)

        await self._front.converse(ask)
        self._set_status(ConnectionState.STOPPED, "the input has ended")

    async def ready(self, address: Address) -> None:
        """Return at once: nothing is waited for before a send."""

    async def send(self, part: Part) -> Receipt:
        """Show a part where its question was asked, and release who waits for the answer.

        A part whose question was asked of an earlier process goes to this process's own
        console, else to the one attached last.
        """
        return await self._deliver(part)

    async def send_file(self, part: Part, path: Path) -> Receipt:
        """Say where the part's file lies: whoever sits here can open it."""
        label = "" if part.file is None else part.file.label
        return await self._deliver(replace(part, content=RichText(f"📎 {label}: {path}")))

    async def _deliver(self, part: Part) -> Receipt:
        questions = self._desk.covered(part.reply_to)
        try:
            await self._show(part, questions)
        finally:
            if part.last:
                self._desk.settle(questions)
        return Receipt(MessageId(part.key))

    def finishing(self, part: Part) -> bool:
        """Never: what is shown stays."""
        return False

    async def look_up(self, part: Part) -> Receipt | None:
        """Return None: nothing can be found again on a screen."""
        return None

    def download(self, attachment: Attachment) -> AsyncGenerator[bytes, None]:
        """Refuse: nobody can send a file here."""
        raise NoFilesError

    async def typing(self, address: Address) -> None:
        """Do nothing: a prompt shows by itself that an answer is awaited."""

    def preview(self, address: Address, turn: TurnId, reply_to: MessageId) -> Preview | None:
        """Return a preview on the console that asked; None for piped input."""
        question = self._desk.asked(reply_to)
        screen = question.screen if question else self._default_screen()
        if screen is None or screen.gone.is_set() or (question and not question.joinable):
            return None
        return ConsolePreview(screen, turn)

    async def aclose(self) -> None:
        """Cut off the attached consoles and remove the socket."""
        if self._server:
            await self._server.close()

    async def _listen(self, receive: Receive) -> None:
        if self._socket_path is None or self._server:
            return
        server = AttachServer(self._socket_path, receive)
        try:
            await server.start()
        except OSError as error:
            self._front.notice(f"No other console can attach: {error}")
        else:
            self._server = server

    async def _show(self, part: Part, questions: list[Question]) -> None:
        """Show ``part`` on each console that asked; one that could is enough."""
        closed: ConsoleClosedError | None = None
        shown = False
        for screen, asked in self._screens(questions).items():
            to = tuple(question.message for question in asked)
            try:
                await screen.show(Piece(part.content, part.turn or "", to, part.last))
                shown = True
            except ConsoleClosedError as error:
                closed = error
        if closed and not shown:
            raise closed

    def _screens(self, questions: list[Question]) -> dict[Screen, list[Question]]:
        screens: dict[Screen, list[Question]] = {}
        for question in questions:
            screens.setdefault(question.screen, []).append(question)
        if not screens:
            screen = self._default_screen()
            if screen is None:
                raise NoConsoleError
            screens[screen] = []
        return screens

    def _default_screen(self) -> Screen | None:
        if self._front.screen and not self._front.screen.gone.is_set():
            return self._front.screen
        attached = self._server.screens if self._server else []
        return attached[-1] if attached else None

    def _set_status(self, state: ConnectionState, detail: str) -> None:
        self.status = AdapterStatus(state, detail, self._clock.now())


class ConsolePreview:
    """A running answer on one screen."""

    def __init__(self, screen: Screen, turn: TurnId) -> None:
        self._screen = screen
        self._turn = turn
        self._closed = False

    def update(self, text: str) -> None:
        """Show ``text``, the whole answer so far."""
        if not self._closed:
            self._screen.progress(self._turn, clean(text))

    async def close(self) -> None:
        """Take away what is not shown for good."""
        if not self._closed:
            self._closed = True
            self._screen.progress(self._turn, "")


def create(
    settings: ConsoleSettings,
    secrets: Mapping[str, str],
    *,
    clock: Clock,
    history_file: Path | None = None,
    socket_path: Path | None = None,
    place: PlaceId = PLACE,
) -> list[ConsoleAdapter]:
    """Return the console of this process's standard streams, [] when it is switched off.

    ``place`` names the conversation: another one begins another.
    """
    if not settings.enabled:
        return []
    streams = Streams(sys.stdin, sys.stdout, sys.stderr, history_file)
    return [ConsoleAdapter(streams, clock=clock, socket_path=socket_path, place=place)]
