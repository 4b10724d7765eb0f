"""An answer shown while it is written: a message of its own, edited, at last removed.

The final text never depends on it. It is sent as a new message with its own nonce, exactly as
where nothing was shown, and the preview is removed in the same call once the answer stands. So
the answer's notification carries the answer, and a preview itself rings nowhere.

What a crash leaves is recognised without any record of ours: no other message of the bot is
posted silently and ends in the mark. When the channel is caught up, it is removed.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from typing import TYPE_CHECKING

import structlog

from adapters.discord.client import BRIEF, Draft, is_silent
from adapters.discord.fields import Fields
from adapters.discord.manifest import CAPABILITIES
from adapters.discord.render import render, size
from gateway.live import Live, Rhythm
from gateway.model.errors import PlatformError
from gateway.model.ids import MessageId, PlaceId
from gateway.text.fields import ParseError
from gateway.text.markup import parse
from gateway.text.split import split

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adapters.discord.client import Client
    from gateway.model.ids import AccountId, TurnId
    from gateway.model.outbound import Address
    from gateway.ports import Clock

log: structlog.stdlib.BoundLogger = structlog.get_logger()

#: seconds between two calls for previews in one channel
PAUSE = 1.5
#: behind the words of a preview
MARK = " ▌"


class Previews:
    """All previews of one account, which share each channel's pace."""

    def __init__(self, client: Client, account: AccountId, clock: Clock) -> None:
        self._client = client
        self._account = account
        self.rhythm = Rhythm(clock)
        #: what stands in a channel: shown, or closed and not removed yet
        self._standing: dict[PlaceId, set[MessageId]] = {}
        self._shown: set[MessageId] = set()

    def begin(self, address: Address, turn: TurnId, reply_to: MessageId) -> DiscordPreview:
        """Return a preview; nothing is posted before its first text."""
        return DiscordPreview(self, address.place, turn, reply_to)

    async def clear(self, place: PlaceId) -> None:
        """Remove what closed previews left in a channel. Never raises."""
        for message in self._standing.get(place, set()) - self._shown:
            await self._remove(place, message)

    async def sweep(self, page: Sequence[object]) -> None:
        """Remove previews that an earlier process left among messages of the history."""
        for each in page:
            with suppress(ParseError):
                message = Fields.of(each, "history")
                if self._is_stale(message):
                    await self._remove(PlaceId(message.id("channel_id")), MessageId(message.id()))

    async def show(self, draft: Draft, shown: MessageId | None) -> MessageId:
        """Post a preview or change the one that stands. Raises ``PlatformError``."""
        if shown is None:
            shown = (await self._client.send(draft, patience=BRIEF)).message
            self._standing.setdefault(draft.place, set()).add(shown)
            self._shown.add(shown)
        else:
            await self._client.edit(draft.place, shown, draft.text)
        return shown

    def closed(self, message: MessageId) -> None:
        """Let the next answer in its channel remove a preview."""
        self._shown.discard(message)

    def _is_stale(self, message: Fields) -> bool:
        author = message.child("author")
        own = author is not None and author.id_or_none("id") == self._account
        marked = own and is_silent(message) and message.text("content").endswith(MARK)
        return marked and message.id() not in self._shown

    async def _remove(self, place: PlaceId, message: MessageId) -> None:
        """One that cannot be removed stands until its channel is caught up."""
        try:
            await self._client.delete(place, message)
        except PlatformError as error:
            log.info("discord.preview_left", action="preview", place=place, why=error.code)
        standing = self._standing.get(place, set())
        standing.discard(message)
        if not standing:
            self._standing.pop(place, None)


class DiscordPreview:
    """The preview of one turn. A repeated post is dropped by its nonce, so it may be repeated."""

    def __init__(
        self, previews: Previews, place: PlaceId, turn: TurnId, reply_to: MessageId
    ) -> None:
        self._previews = previews
        self._place = place
        self._reply_to = reply_to
        self._nonce = hashlib.sha256(f"preview {turn}".encode()).hexdigest()[:25]
        self._message: MessageId | None = None
        self._live = Live(self._show, previews.rhythm, place, pause=PAUSE, repeatable=True)

    def update(self, text: str) -> None:
        """See ``gateway.ports.Preview``."""
        self._live.update(text)

    async def close(self) -> None:
        """See ``gateway.ports.Preview``; what was shown may be removed from now on."""
        await self._live.close()
        if self._message is not None:
            self._previews.closed(self._message)

    async def _show(self, markdown: str) -> None:
        if text := excerpt(markdown):
            draft = Draft(self._place, text, self._nonce, self._reply_to, silent=True)
            self._message = await self._previews.show(draft, self._message)


def excerpt(markdown: str) -> str:
    """Return the end of an unfinished answer, as much as one message holds, with the mark."""
    limit = CAPABILITIES.max_length - len(MARK)
    pieces = split(parse(markdown), limit=limit, size=size)
    return render(pieces[-1]) + MARK if pieces else ""
