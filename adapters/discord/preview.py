"""An answer shown while it is written: a message of its own, edited, at last removed.

The final text never depends on it. It is sent as a new message with its own nonce, exactly as
where nothing was shown, and the preview is removed in the same call once the answer stands. So
the answer's notification carries the answer, and a preview itself rings nowhere.

What a crash leaves is recognised without any record of ours: no other message of the bot is
posted silently and ends in the mark. When the channel is caught up, it is removed.
"""

from __future__ import annotations

import asyncio
import hashlib
from contextlib import suppress
from typing import TYPE_CHECKING

import structlog

from adapters.discord.client import BRIEF, Draft, is_silent
from adapters.discord.fields import Fields, ParseError
from adapters.discord.manifest import CAPABILITIES
from adapters.discord.render import render, size
from gateway.model.errors import Disposition, PlatformError, RateLimitedError
from gateway.model.ids import MessageId, PlaceId
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
#: seconds for a call that is under way when the answer is complete
FAREWELL = 1.0
#: behind the words of a preview
MARK = " ▌"


class Previews:
    """All previews of one account, which share each channel's pace."""

    def __init__(self, client: Client, account: AccountId, clock: Clock) -> None:
        self._client = client
        self._account = account
        self._clock = clock
        self._next: dict[PlaceId, float] = {}
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

    async def pace(self, place: PlaceId) -> None:
        """Return when a channel may be called for a preview again."""
        while (wait := self._next.get(place, 0.0) - self._clock.monotonic()) > 0:
            await self._clock.sleep(wait)

    def called(self, place: PlaceId, pause: float = PAUSE) -> None:
        """Leave a channel alone for some seconds."""
        self._next[place] = self._clock.monotonic() + pause

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
    """The preview of one turn. Trouble ends it, a rate limit delays it; neither is told."""

    def __init__(
        self, previews: Previews, place: PlaceId, turn: TurnId, reply_to: MessageId
    ) -> None:
        self._previews = previews
        self._place = place
        self._reply_to = reply_to
        self._nonce = hashlib.sha256(f"preview {turn}".encode()).hexdigest()[:25]
        self._message: MessageId | None = None
        self._text = ""
        self._fresh = asyncio.Event()
        self._closing = False
        self._calling = False
        self._task: asyncio.Task[None] | None = None

    def update(self, text: str) -> None:
        """Show ``text`` as soon as the channel's pace allows; what came before it is skipped."""
        self._text = text
        self._fresh.set()
        if self._task is None and not self._closing:
            # a short answer is there before its preview would be
            self._previews.called(self._place)
            self._task = asyncio.create_task(self._run(), name="discord-preview")

    async def close(self) -> None:
        """Stop. A call under way may end, so that its message is known and can be removed."""
        self._closing = True
        self._fresh.set()
        if self._task is not None:
            if self._calling:
                await asyncio.wait({self._task}, timeout=FAREWELL)
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        if self._message is not None:
            self._previews.closed(self._message)

    async def _run(self) -> None:
        while await self._wanted():
            try:
                await self._show()
            except RateLimitedError as error:
                self._fresh.set()
                self._previews.called(self._place, max(error.retry_after or 0.0, PAUSE))
            except PlatformError as error:
                log.info("discord.no_preview", action="preview", why=error.code)
                if error.disposition is Disposition.GIVE_UP:
                    return

    async def _wanted(self) -> bool:
        """Wait for words and for the channel's pace, whichever is later; False: it is over."""
        await self._fresh.wait()
        if not self._closing:
            await self._previews.pace(self._place)
        return not self._closing

    async def _show(self) -> None:
        self._fresh.clear()
        text = excerpt(self._text)
        if text:
            draft = Draft(self._place, text, self._nonce, self._reply_to, silent=True)
            self._previews.called(self._place)
            self._calling = True
            try:
                self._message = await self._previews.show(draft, self._message)
            finally:
                self._calling = False


def excerpt(markdown: str) -> str:
    """Return the end of an unfinished answer, as much as one message holds, with the mark."""
    limit = CAPABILITIES.max_length - len(MARK)
    pieces = split(parse(markdown), limit=limit, size=size)
    return render(pieces[-1]) + MARK if pieces else ""
