"""An answer shown while it is written: one message, edited now and then, finished by delivery."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from adapters.slack.client import Draft
from adapters.slack.manifest import LONGEST
from adapters.slack.render import render, size
from gateway.model.errors import Disposition, PlatformError, RateLimitedError
from gateway.model.ids import TurnId
from gateway.text.markup import parse
from gateway.text.split import split

if TYPE_CHECKING:
    from adapters.slack.client import Client
    from gateway.model.ids import MessageId
    from gateway.model.outbound import Address
    from gateway.ports import Clock

log: structlog.stdlib.BoundLogger = structlog.get_logger()

#: seconds between edits, and before the first showing: short answers come whole at once
INTERVAL = 1.5
#: seconds that the end of a preview may wait for a call that is under way
_LAST_CALL = 2.0
_MORE = " …"
_PREVIEW = "preview:"
_MOST = 1_000


@dataclass(slots=True)
class Shown:
    """The message in which a turn's answer is shown; its first part takes it over."""

    address: Address
    message: MessageId | None = None
    #: a post whose outcome is unknown: the message may stand there all the same
    lost: bool = False


class Board:
    """Which turns are being shown, in this process."""

    def __init__(self) -> None:
        self._shown: dict[TurnId, Shown] = {}

    def open(self, turn: TurnId, address: Address) -> Shown:
        """Return the turn's message: the same one when the turn is run again."""
        while len(self._shown) >= _MOST:
            self._shown.pop(next(iter(self._shown)))
        return self._shown.setdefault(turn, Shown(address))

    def find(self, turn: TurnId | None) -> Shown | None:
        """Return the message that awaits the turn's first part."""
        return None if turn is None else self._shown.get(turn)

    def settle(self, turn: TurnId | None) -> None:
        """Forget a turn: its first part is delivered."""
        if turn is not None:
            self._shown.pop(turn, None)


def preview_key(turn: TurnId) -> str:
    """Return the key under which a preview's message is found again."""
    return f"{_PREVIEW}{turn}"


def previewed_turn(key: str) -> TurnId | None:
    """Return the turn of a preview's key, None for any other key."""
    return TurnId(key.removeprefix(_PREVIEW)) if key.startswith(_PREVIEW) else None


class SlackPreview:
    """A running answer. Trouble with it is nobody's trouble: it stops showing."""

    def __init__(self, client: Client, shown: Shown, turn: TurnId, clock: Clock) -> None:
        self._client = client
        self._shown = shown
        self._key = preview_key(turn)
        self._clock = clock
        self._text = ""
        self._changed = asyncio.Event()
        self._closed = False
        self._calling = False
        self._task = asyncio.create_task(self._show(), name="preview")

    def update(self, text: str) -> None:
        """Show ``text``, the whole answer so far."""
        self._text = text
        self._changed.set()

    async def close(self) -> None:
        """Stop showing; a call that is under way is waited for, but not long."""
        self._closed = True
        self._changed.set()
        if not self._calling:
            self._task.cancel()
        _, late = await asyncio.wait({self._task}, timeout=_LAST_CALL)
        for task in late:
            self._shown.lost = self._shown.message is None
            task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _show(self) -> None:
        while await self._due():
            try:
                await self._call(excerpt(self._text))
            except RateLimitedError as error:
                self._changed.set()
                await self._clock.sleep(error.retry_after or INTERVAL)
            except PlatformError as error:
                self._shown.lost = error.disposition is Disposition.AMBIGUOUS
                log.debug("slack.no_preview", action="preview", code=error.code)
                return

    async def _due(self) -> bool:
        """Wait until there is something new to show; False when the preview is over."""
        if self._closed:
            return False
        await self._clock.sleep(INTERVAL)
        await self._changed.wait()
        self._changed.clear()
        return not self._closed

    async def _call(self, text: str) -> None:
        where = self._shown.address
        draft = Draft(where.place, text, self._key, where.thread)
        self._calling = True
        try:
            if self._shown.message is None:
                self._shown.message = await self._client.post(draft)
            else:
                await self._client.update(draft, self._shown.message)
        finally:
            self._calling = False


def excerpt(markdown: str) -> str:
    """Return the beginning of an answer as one message that may be edited later."""
    pieces = split(parse(markdown), limit=LONGEST - len(_MORE.encode()), size=size)
    if not pieces:
        return _MORE.strip()
    return render(pieces[0]) + (_MORE if len(pieces) > 1 else "")
