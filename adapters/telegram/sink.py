"""Sending: every part exactly as formatted if Telegram lets it, with less where it does not."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import structlog

from adapters.telegram.drafts import Draft, Upload
from adapters.telegram.errors import BUTTONS, ENTITIES, PHOTO, REPLY, THREAD, ChatMovedError
from adapters.telegram.manifest import CAPABILITIES
from adapters.telegram.pace import is_group
from adapters.telegram.people import GENERAL_TOPIC
from adapters.telegram.render import render
from gateway.model.errors import (
    CredentialsError,
    Disposition,
    PlatformError,
    RateLimitedError,
)
from gateway.model.outbound import Receipt
from gateway.text.behind import in_words
from gateway.text.plain import plain

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from adapters.telegram.client import Client
    from adapters.telegram.pace import Pacer
    from adapters.telegram.preview import Previews
    from gateway.live import Board, Live, Shown
    from gateway.model.ids import MessageId, PlaceId, ThreadId, TurnId
    from gateway.model.outbound import Address, Part

log: structlog.stdlib.BoundLogger = structlog.get_logger()

_T = TypeVar("_T")
_Draft = TypeVar("_Draft", Draft, Upload)

#: what Telegram shows as a photo, up to so many bytes
_PHOTOS = frozenset({"image/png", "image/jpeg", "image/webp"})
LARGEST_PHOTO = 10_000_000


class Sink:
    """Posts parts, previews and typing signs of one bot."""

    def __init__(self, client: Client, pacer: Pacer, board: Board, previews: Previews) -> None:
        self._client = client
        self._pacer = pacer
        self._board = board
        self._previews = previews

    async def ready(self, address: Address) -> None:
        """Return when the place may be written to."""
        await self._pacer.ready(address.place)

    async def send(self, part: Part) -> Receipt:
        """Deliver ``part`` once: in the message that shows it already, else in a new one."""
        shown = self._board.find(part.turn)
        receipt = None if shown is None else await self._finish(shown, part)
        if part.edits is not None:
            receipt = await self._change(part, part.edits)
        if receipt is None:
            receipt = await self._post_part(part)
        self._board.settle(part.turn)
        return receipt

    def finishing(self, part: Part) -> bool:
        """Tell whether sending ``part`` changes a message that stands there already."""
        shown = self._board.find(part.turn)
        return shown is not None and shown.message is not None

    def preview(self, address: Address, turn: TurnId, reply_to: MessageId) -> Live | None:
        """Return a preview for a turn's answer; None where an earlier one may stand unseen."""
        if not is_group(address.place):
            return self._previews.draft(address.place, topic(address), turn)
        shown = self._board.open(turn, address)
        if shown.lost:
            return None
        return self._previews.message(shown, topic(address), reply_to)

    async def _finish(self, shown: Shown, part: Part) -> Receipt | None:
        """Write the part into the message that shows it; None when that cannot be.

        An edit may be repeated while this process knows the message, so that an unknown outcome
        is tried again later (``finishing``). Telegram lets formatting give way and nothing else.
        """
        draft, message, degraded = first_draft(part), shown.message, shown.degraded
        if message is None or draft.place != shown.address.place:
            return None
        while True:
            try:
                edit = partial(self._client.edit_message, draft, message, finishing=True)
                await self._spend(draft.place, edit)
            except PlatformError as error:
                if error.code == ENTITIES and draft.entities:
                    draft, degraded = without_formatting(draft, part), (*degraded, "plain")
                    continue
                if is_passing(error):
                    shown.taken = shown.taken or error.disposition is Disposition.AMBIGUOUS
                    raise
                log.info("telegram.preview_left", action="send", code=error.code)
                await self._previews.withdraw(shown)
                return None
            return Receipt(message, degraded)

    async def _change(self, part: Part, message: MessageId) -> Receipt:
        """Write ``part`` in place of an own message; behind it where that cannot be."""
        draft = first_draft(part)
        degraded: tuple[str, ...] = ()
        while True:
            try:
                await self._spend(draft.place, partial(self._client.edit_message, draft, message))
            except PlatformError as error:
                if error.code == ENTITIES and draft.entities:
                    draft, degraded = without_formatting(draft, part), ("plain",)
                    continue
                if is_passing(error):
                    raise
                log.info("telegram.gave_way", action="send", place=draft.place, why=error.code)
                posted = await self._post_part(part)
                return replace(posted, degraded=("no-edit", *posted.degraded))
            return Receipt(message, degraded)

    async def _post_part(self, part: Part) -> Receipt:
        """Post ``part``; raise the last refusal when nothing can give way any more.

        Only a refusal is followed by another try, never an unknown outcome. What gives way is
        formatting, the topic, the reply; never the chat, except that a group's move is followed.
        """
        draft = first_draft(part)
        degraded: list[str] = []
        while True:
            try:
                sent = await self._spend(draft.place, partial(self._client.send_message, draft))
            except PlatformError as error:
                if error.code == BUTTONS and part.choice is not None:
                    part = in_words(part)
                    draft, degraded = first_draft(part), [*degraded, "no-buttons"]
                    continue
                lesser = lesser_draft(draft, part, error)
                if lesser is None:
                    raise
                draft, label = lesser
                degraded += [label] if label else []
                log.info("telegram.gave_way", action="send", place=draft.place, why=error.code)
                continue
            if draft.reply_to is not None and not sent.replied:
                degraded.append("no-reply")
            return Receipt(sent.message, tuple(degraded), _new_place(draft, part))

    async def send_file(self, part: Part, path: Path) -> Receipt:
        """Post the part's file; a picture as a photo where Telegram can show it."""
        upload = first_upload(part, path)
        degraded: list[str] = []
        while True:
            try:
                sent = await self._spend(upload.place, partial(self._client.send_file, upload))
            except PlatformError as error:
                lesser = lesser_upload(upload, part, error)
                if lesser is None:
                    raise
                upload, label = lesser
                degraded += [label] if label else []
                log.info("telegram.gave_way", action="send", place=upload.place, why=error.code)
                continue
            self._board.settle(part.turn)
            if upload.reply_to is not None and not sent.replied:
                degraded.append("no-reply")
            return Receipt(sent.message, tuple(degraded), _new_place(upload, part))

    async def typing(self, address: Address) -> None:
        """Show a typing sign, unless the chat has to be left alone or its budget is short."""
        if not self._pacer.try_typing(address.place):
            log.debug("telegram.typing_skipped", action="typing", place=address.place)
            return
        try:
            await self._client.send_typing(address.place, topic(address))
        except RateLimitedError as error:
            self._pacer.obey(address.place, error)
            raise

    async def _spend(self, place: PlaceId, call: Callable[[], Awaitable[_T]]) -> _T:
        await self._pacer.take_turn(place)
        try:
            return await call()
        except RateLimitedError as error:
            self._pacer.obey(place, error)
            raise


def first_draft(part: Part) -> Draft:
    """Return the part as it should look."""
    text, entities = render(part.content)
    where = part.address
    return Draft(where.place, text, tuple(entities), topic(where), part.reply_to, part.choice)


def topic(address: Address) -> ThreadId | None:
    """Return the topic to name; General is answered by naming none."""
    return None if address.thread == GENERAL_TOPIC else address.thread


def without_formatting(draft: Draft, part: Part) -> Draft:
    """Return the part as plain text, the addresses of its links included."""
    return replace(draft, text=plain(part.content, limit=CAPABILITIES.max_length), entities=())


def is_passing(error: PlatformError) -> bool:
    """Tell a trouble that a later try may find gone from a refusal of this one message."""
    if isinstance(error, CredentialsError):
        return True
    return error.disposition is not Disposition.GIVE_UP and not isinstance(error, ChatMovedError)


def first_upload(part: Part, path: Path) -> Upload:
    """Return the part's file as it should be shown."""
    if part.file is None:
        raise ValueError("a part without a file")
    photo = part.file.mime in _PHOTOS and part.file.size <= LARGEST_PHOTO
    where = part.address
    return Upload(where.place, path, part.file.label, photo, topic(where), part.reply_to)


def lesser_upload(upload: Upload, part: Part, error: PlatformError) -> tuple[Upload, str] | None:
    """Return what to try after a file was refused; a photo may still go as a document."""
    if error.code == PHOTO and upload.photo:
        return replace(upload, photo=False), ""
    return give_way(upload, part, error)


def lesser_draft(draft: Draft, part: Part, error: PlatformError) -> tuple[Draft, str] | None:
    """Return what to try after words were refused."""
    if error.code == ENTITIES and draft.entities:
        return without_formatting(draft, part), "plain"
    return give_way(draft, part, error)


def _new_place(draft: Draft | Upload, part: Part) -> PlaceId | None:
    return None if draft.place == part.address.place else draft.place


def give_way(draft: _Draft, part: Part, error: PlatformError) -> tuple[_Draft, str] | None:
    """Return what to try after a refusal and what it gives up ("": nothing), or None.

    Each step is taken once, so that repeated refusals end.
    """
    if isinstance(error, ChatMovedError) and draft.place == part.address.place:
        # Numbers of the old group mean other messages in the new one.
        moved = replace(draft, place=error.place, thread=None, reply_to=None)
        return moved, "" if draft.reply_to is None else "no-reply"
    if error.code == THREAD and draft.thread is not None:
        return replace(draft, thread=None), "no-thread"
    if error.code == REPLY and draft.reply_to is not None:
        return replace(draft, reply_to=None), "no-reply"
    return None
