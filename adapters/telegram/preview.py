"""An answer shown while it is written: as a draft to a person, in a group as a message.

A draft is no message: it is gone when the answer stands, or after half a minute. A group's message
is taken over by the answer's first part. What a crash leaves of one stands with its mark and is
never written to again: a bot cannot read what it has posted.
"""

from __future__ import annotations

import asyncio
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING

import structlog

from adapters.telegram.drafts import Draft
from adapters.telegram.manifest import CAPABILITIES
from adapters.telegram.render import render
from gateway.live import FAREWELL, Live
from gateway.model.errors import PlatformError, RateLimitedError
from gateway.text.markup import parse
from gateway.text.split import split
from gateway.text.units import utf16_length

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from telegram import MessageEntity

    from adapters.telegram.client import Client
    from adapters.telegram.pace import Pacer
    from gateway.live import Board, Rhythm, Shown
    from gateway.model.ids import MessageId, PlaceId, ThreadId, TurnId
    from gateway.model.outbound import RichText

log: structlog.stdlib.BoundLogger = structlog.get_logger()

#: seconds between two showings in one chat
PRIVATE_PAUSE, GROUP_PAUSE = 1.5, 3.0
#: behind the words of a preview
MARK = " ▌"


class Previews:
    """All previews of one bot. They spend from its budget and leave room for its messages."""

    def __init__(self, client: Client, pacer: Pacer, rhythm: Rhythm, board: Board) -> None:
        self._client = client
        self._pacer = pacer
        self._rhythm = rhythm
        self._board = board

    def draft(self, place: PlaceId, thread: ThreadId | None, turn: TurnId) -> Live:
        """Return a preview for a person's own chat."""
        number = zlib.crc32(turn.encode()) & 0x7FFFFFFF or 1

        async def show(markdown: str) -> None:
            if pieces := _pieces(markdown):
                draft = Draft(place, *_marked(pieces[-1]), thread)
                await self._spend(place, lambda: self._client.show_draft(draft, number))

        return Live(show, self._rhythm, place, pause=PRIVATE_PAUSE, repeatable=True)

    def message(self, shown: Shown, thread: ThreadId | None, reply_to: MessageId) -> Live:
        """Return a preview for a group, shown in a message that answers ``reply_to``."""
        place = shown.address.place

        async def show(markdown: str) -> None:
            if pieces := _pieces(markdown):
                draft = Draft(place, *_marked(pieces[0]), thread, reply_to)
                await self._spend(place, lambda: self._put(draft, shown))

        return Live(show, self._rhythm, place, pause=GROUP_PAUSE)

    async def withdraw(self, shown: Shown) -> None:
        """Remove a message that no part will take over. Never raises."""
        message, shown.message = shown.message, None
        if message is None:
            return
        try:
            await self._client.delete_message(shown.address.place, message)
        except PlatformError as error:
            log.info("telegram.preview_left", action="preview", code=error.code)

    async def withdraw_all(self) -> None:
        """Remove every message that still waits for its answer: a later process writes anew."""
        with suppress(TimeoutError):
            async with asyncio.timeout(FAREWELL):
                for shown in self._board.standing():
                    await self.withdraw(shown)

    async def _put(self, draft: Draft, shown: Shown) -> None:
        if shown.message is not None:
            await self._client.edit_message(draft, shown.message)
            return

        async def send() -> MessageId:
            sent = await self._client.send_message(draft)
            shown.degraded = () if sent.replied else ("no-reply",)
            return sent.message

        await shown.post(send())

    async def _spend(self, place: PlaceId, call: Callable[[], Awaitable[None]]) -> None:
        if not self._pacer.try_preview(place):
            raise RateLimitedError("no room for a preview at the moment", retry_after=0.0)
        try:
            await call()
        except RateLimitedError as error:
            self._pacer.obey(place, error)
            raise


def _pieces(markdown: str) -> list[RichText]:
    """Return an unfinished answer in pieces that have room for the mark."""
    return split(
        parse(markdown),
        limit=CAPABILITIES.max_length - len(MARK),
        size=lambda piece: utf16_length(piece.text),
        max_spans=CAPABILITIES.max_spans,
    )


def _marked(piece: RichText) -> tuple[str, tuple[MessageEntity, ...]]:
    text, entities = render(piece)
    return text + MARK, tuple(entities)
