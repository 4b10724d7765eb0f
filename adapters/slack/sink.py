"""Sending: each part once, into the message that already shows it where there is one."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import structlog

from adapters.slack.buttons import blocks
from adapters.slack.drafts import Draft, files_of, key_of
from adapters.slack.errors import BLOCKS, GONE, THREAD
from adapters.slack.preview import begin, preview_key
from adapters.slack.render import render
from gateway.model.errors import Disposition, PlatformError
from gateway.model.ids import MessageId
from gateway.model.outbound import Receipt
from gateway.policy.documents import marked
from gateway.text.behind import in_words

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path
    from typing import Any

    from adapters.slack.client import Client
    from gateway.live import Board, Live, Rhythm, Shown
    from gateway.model.ids import PlaceId, ThreadId, TurnId
    from gateway.model.outbound import Address, Part

log: structlog.stdlib.BoundLogger = structlog.get_logger()

WORKING = "is typing…"
#: messages of a place that are looked through for one of ours
_LOOKED_AT = 400


class Sink:
    """Posts parts, previews and statuses of one team's bot."""

    def __init__(self, client: Client, board: Board, rhythm: Rhythm) -> None:
        self._client = client
        self._board = board
        self._rhythm = rhythm

    async def send(self, part: Part) -> Receipt:
        """Post ``part`` once; the thread gives way when its root is gone, nothing else does."""
        if part.edits is not None:
            return await self._change(part, part.edits)
        draft = first_draft(part)
        shown = self._board.find(part.turn)
        receipt = None
        if shown is not None and part.turn is not None:
            receipt = await self._finish(shown, part.turn, draft)
        if receipt is None:
            receipt = await self._post_part(part, draft)
        self._board.settle(part.turn)
        return receipt

    async def _change(self, part: Part, message: MessageId) -> Receipt:
        """Write ``part`` in place of an own message; behind it where that cannot be."""
        draft = first_draft(part)
        try:
            await self._client.update(draft, message)
        except PlatformError as error:
            if error.disposition is not Disposition.GIVE_UP or error.code == "credentials":
                raise
            log.info("slack.gave_way", action="send", place=draft.place, why=error.code)
            posted = await self._post(draft)
            return replace(posted, degraded=("no-edit", *posted.degraded))
        return Receipt(message)

    async def _post_part(self, part: Part, draft: Draft) -> Receipt:
        """Post ``part``; its buttons give way to words where Slack does not take them."""
        try:
            return await self._post(draft)
        except PlatformError as error:
            if error.code != BLOCKS or part.choice is None:
                raise
            log.info("slack.gave_way", action="send", place=draft.place, why=error.code)
        posted = await self._post(first_draft(in_words(part)))
        return replace(posted, degraded=("no-buttons", *posted.degraded))

    async def send_file(self, part: Part, path: Path) -> Receipt:
        """Post the part's file, under a name by which it is found again."""
        if part.file is None:
            raise ValueError("a part without a file")
        where, label = part.address, part.file.label
        content = await asyncio.to_thread(path.read_bytes)
        file = await self._client.upload(marked(label, part.key), content)
        draft = Draft(where.place, label, part.key, where.thread)
        receipt = await self._post(draft, lambda each: self._client.share(each, file))
        self._board.settle(part.turn)
        return receipt

    async def _post(
        self, draft: Draft, post: Callable[[Draft], Awaitable[MessageId]] | None = None
    ) -> Receipt:
        post = post or self._client.post
        try:
            return Receipt(await post(draft))
        except PlatformError as error:
            if error.code != THREAD or draft.thread is None:
                raise
            log.info("slack.gave_way", action="send", place=draft.place, why=error.code)
            return Receipt(await post(replace(draft, thread=None)), ("no-thread",))

    async def _finish(self, shown: Shown, turn: TurnId, draft: Draft) -> Receipt | None:
        """Write the part into the message that shows it; None when there is no such message.

        An edit whose outcome is unknown is looked up by its new key, as a post is.
        """
        if shown.message is None and shown.lost:
            where = shown.address
            key = preview_key(turn)
            shown.message = await self._find(
                where.place, where.thread, lambda each: key_of(each) == key
            )
            shown.lost = False
        if shown.message is None:
            return None
        try:
            await self._client.update(draft, shown.message, finishing=True)
        except PlatformError as error:
            if error.disposition is not Disposition.GIVE_UP or error.code == "credentials":
                raise
            await self._withdraw(shown, error)
            return None
        await self._clear_status(shown.address)
        return Receipt(shown.message)

    async def _withdraw(self, shown: Shown, why: PlatformError) -> None:
        """Remove a preview that cannot be finished; one that is gone already is just as well."""
        message, shown.message = shown.message, None
        if message is not None and why.code != GONE:
            await self._delete(shown.address.place, message)

    async def sweep(self, place: PlaceId, message: MessageId, turn: TurnId) -> None:
        """Remove a preview that an earlier process left behind."""
        shown = self._board.find(turn)
        if shown is None or shown.message != message:
            await self._delete(place, message)

    async def _delete(self, place: PlaceId, message: MessageId) -> None:
        try:
            await self._client.delete(place, message)
        except PlatformError as error:
            log.info("slack.preview_left", action="send", code=error.code)

    async def look_up(self, part: Part) -> Receipt | None:
        """Find what an earlier send of ``part`` posted, in its thread or outside."""
        where, ours = part.address, _mark_of(part)
        found = await self._find(where.place, where.thread, ours)
        if found is not None:
            self._board.settle(part.turn)
            return Receipt(found)
        if where.thread is None:
            return None
        found = await self._find(where.place, None, ours)
        return None if found is None else Receipt(found, ("no-thread",))

    async def _find(
        self, place: PlaceId, thread: ThreadId | None, ours: Callable[[dict[str, Any]], bool]
    ) -> MessageId | None:
        looked_at = 0
        try:
            async for message in self._read(place, thread):
                looked_at += 1
                if ours(message):
                    return MessageId(message["ts"])
                if looked_at >= _LOOKED_AT and thread is None:
                    return None
        except PlatformError as error:
            if error.code != THREAD:
                raise
        return None

    def _read(self, place: PlaceId, thread: ThreadId | None) -> AsyncIterator[dict[str, Any]]:
        if thread is None:
            return self._client.history(place, "0")
        return self._client.replies(place, thread, "0")

    # --- signs of life -----------------------------------------------------------------------

    async def typing(self, address: Address) -> None:
        """Show in a thread that an answer is being written; elsewhere Slack has no sign for it."""
        if address.thread is not None:
            await self._client.show_status(address.place, address.thread, WORKING)

    async def _clear_status(self, address: Address) -> None:
        """An edit does not end the status, as a new message does."""
        if address.thread is None:
            return
        try:
            await self._client.show_status(address.place, address.thread, "")
        except PlatformError as error:
            log.debug("slack.status_left", action="send", code=error.code)

    def preview(self, address: Address, turn: TurnId) -> Live | None:
        """Return a preview for a turn's answer; None where an earlier one may stand unseen."""
        shown = self._board.open(turn, address)
        return None if shown.lost else begin(self._client, shown, turn, self._rhythm)


def first_draft(part: Part) -> Draft:
    """Return the part as it should look."""
    text, where = render(part.content), part.address
    shown = () if part.choice is None else blocks(text, part.choice)
    return Draft(where.place, text, part.key, where.thread, shown)


def _mark_of(part: Part) -> Callable[[dict[str, Any]], bool]:
    """Return what tells the message of a part that was sent before."""
    if part.file is None:
        return lambda message: key_of(message) == part.key
    name = marked(part.file.label, part.key)
    return lambda message: name in files_of(message)
