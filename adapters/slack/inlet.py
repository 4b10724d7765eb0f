"""One team's way into the intake: payloads are parsed, put in order, stored, then acknowledged."""

from __future__ import annotations

import asyncio
import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from adapters.slack.buttons import is_press, parse_press, without_addresses
from adapters.slack.fields import order
from adapters.slack.manifest import SLACK
from adapters.slack.parse import parse
from adapters.slack.slash import parse_slash
from gateway.model.errors import StoreError
from gateway.model.events import EventKind
from gateway.ports import Cursor, Received
from gateway.text.fields import ParseError

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from adapters.slack.people import View
    from gateway.model.events import InboundEvent, Sender
    from gateway.ports import Clock, Intake

log: structlog.stdlib.BoundLogger = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A parsed payload and who waits for it to be stored."""

    received: Received
    at: datetime
    stored: asyncio.Future[bool]


class Inlet:
    """What comes together is stored together, each conversation in the order of its ts."""

    def __init__(
        self,
        view: View,
        intake: Intake,
        clock: Clock,
        *,
        seen: Callable[[Sender], None] = lambda _: None,
    ) -> None:
        """``seen`` is told of every sender and must return at once."""
        self.view = view
        self._seen = seen
        self._intake = intake
        self._clock = clock
        self._waiting: list[_Waiting] = []
        self._storing: asyncio.Task[None] | None = None
        #: the highest ts that was stored
        self.newest = ""
        #: nothing older than ``newest`` is missing, so it may become the cursor
        self.complete = False

    @property
    def cursor_name(self) -> str:
        """Name of the cursor that holds how far this account has been read."""
        return f"{SLACK}:{self.view.me.account}"

    async def put(self, payload: object, *, slash: bool = False) -> bool:
        """Take one payload; True once it is durable, so that Slack may be told.

        What cannot be parsed is stored aside; what concerns nobody, and what this app itself
        said, is taken without being stored.
        """
        received = self._read(payload, slash=slash)
        if received is None:
            return True
        at = self._clock.now() if received.event is None else received.event.sent_at
        stored: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(received, at, stored))
        if self._storing is None or self._storing.done():
            self._storing = asyncio.create_task(self._store())
        return await stored

    async def mark(self, newest: str, *, complete: bool) -> None:
        """Write down that everything up to ``newest`` has been read, where it is ``complete``.

        Raises ``StoreError``.
        """
        self.newest = max(self.newest, newest, key=order)
        self.complete = complete
        if complete:
            await self._accept([])

    def _read(self, payload: object, *, slash: bool) -> Received | None:
        kept = without_addresses(payload)
        raw = json.dumps(kept, separators=(",", ":")).encode("ascii")
        name = _name(payload, raw)
        try:
            event = self._parse(payload, slash=slash)
        except ParseError as fault:
            log.warning("slack.set_aside", action="receive", update=name, fault=str(fault))
            return Received(raw, name, fault=str(fault))
        if event is None or _own(event):
            return None
        self._seen(event.sender)
        return Received(raw, name, event)

    def _parse(self, payload: object, *, slash: bool) -> InboundEvent | None:
        if slash:
            return parse_slash(payload, self.view, self._clock.now())
        if is_press(payload):
            return parse_press(payload, self.view, self._clock.now())
        return parse(payload, self.view)

    async def _store(self) -> None:
        while self._waiting:
            await asyncio.sleep(0)  # the rest of a burst joins
            batch, self._waiting = self._waiting, []
            batch.sort(key=lambda each: each.at)
            stored = False
            try:
                stored = await self._try_to_accept([each.received for each in batch])
            finally:
                _answer(batch, stored=stored)

    async def _try_to_accept(self, received: list[Received]) -> bool:
        newest = self.newest
        for each in received:
            if each.event is not None and each.event.kind is EventKind.MESSAGE:
                newest = max(newest, each.event.message, key=order)
        before, self.newest = self.newest, newest
        try:
            await self._accept(received)
        except StoreError as error:
            self.newest = before
            log.warning("slack.not_stored", action="receive", code=error.code)
            return False
        return True

    async def _accept(self, received: list[Received]) -> None:
        cursor = Cursor(self.cursor_name, self.newest) if self.complete else None
        await self._intake.accept((SLACK, self.view.me.account), received, cursor)

    async def aclose(self) -> None:
        """Let go of whoever still waits: Slack delivers to them again."""
        if self._storing is not None:
            self._storing.cancel()
            await asyncio.gather(self._storing, return_exceptions=True)
        _answer(self._waiting, stored=False)


def _answer(batch: list[_Waiting], *, stored: bool) -> None:
    for each in batch:
        if not each.stored.done():
            each.stored.set_result(stored)


def _own(event: InboundEvent) -> bool:
    own: str = event.account
    return event.sender.id == own


def _name(payload: object, raw: bytes) -> str:
    event_id = payload.get("event_id") if isinstance(payload, dict) else None
    if isinstance(event_id, str) and event_id:
        return event_id
    return f"sha256:{hashlib.sha256(raw).hexdigest()}"
