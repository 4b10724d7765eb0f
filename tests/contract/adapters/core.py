"""What stands behind an adapter here: keeps each event once, and answers what starts a turn."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from gateway import app
from gateway.model.events import EventKind
from gateway.model.outbound import Address, Part
from gateway.pipeline.post import Post
from gateway.policy.addressing import addressed
from gateway.policy.admission import AccessRules, Grant, Verdict, admit
from gateway.text.markup import parse
from tests.fakes.clock import FakeClock

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gateway.model.events import InboundEvent
    from gateway.model.ids import AccountId, PlatformName
    from gateway.model.outbound import RichText
    from gateway.ports import Adapter, Cursor, Received
    from gateway.store.engine import Tx

_NOBODY: frozenset[str] = frozenset()


def rules_for(platform: str, person: str, group: str) -> AccessRules:
    """Return rules that let one person talk anywhere, and everybody who is no bot in a group."""
    return AccessRules(
        admins=_NOBODY,
        allow={platform: frozenset({person})},
        roles={},
        places={platform: frozenset({group})},
        open_places={platform: frozenset({group})},
        allow_all={},
        pairing=False,
        bots="ignore",
    )


def starts_turn(event: InboundEvent, rules: AccessRules) -> bool:
    """Tell whether the gateway would run a turn for an event."""
    if event.kind is not EventKind.MESSAGE:
        return False
    if admit(event, rules, Grant()).verdict is not Verdict.ADMIT:
        return False
    return addressed(event, require_mention=False, free_response=_NOBODY).yes


class _Nowhere:
    def put(
        self, tx: Tx, lane: str, key: str, *, dedupe: str, payload: Mapping[str, Any]
    ) -> int | None:
        raise AssertionError("nothing is posted here")


def compose(platform: PlatformName, markdown: str) -> Sequence[RichText]:
    """Return a model's words as the parts that the gateway would send to a platform."""
    return Post(_Nowhere(), FakeClock(), app.capabilities()).compose(platform, markdown)


def answer_to(event: InboundEvent, markdown: str) -> Part:
    """Return a whole answer of one part."""
    where = Address(event.platform, event.account, event.place.id, event.place.thread)
    return Part(f"to:{event.dedupe_key}", where, parse(markdown), reply_to=event.message)


class Core:
    """An ``Intake`` that answers ``re: …``. It survives its adapters, as the database does."""

    def __init__(self, rules: AccessRules) -> None:
        self.rules = rules
        self.adapter: Adapter | None = None
        self.events: list[InboundEvent] = []
        #: deliveries of what was stored before
        self.repeats = 0
        self.faults: list[str] = []
        self._cursors: dict[str, str] = {}
        self._keys: set[str] = set()
        self._answering: set[asyncio.Task[object]] = set()

    async def accept(
        self,
        account: tuple[PlatformName, AccountId],
        received: Sequence[Received],
        cursor: Cursor | None = None,
    ) -> None:
        for each in received:
            key = each.update if each.event is None else each.event.dedupe_key
            self.repeats += key in self._keys
            if key not in self._keys:
                self._keys.add(key)
                self._keep(each)
        if cursor is not None and not (cursor.fixed and cursor.name in self._cursors):
            self._cursors[cursor.name] = cursor.value

    async def cursor(self, name: str) -> str | None:
        return self._cursors.get(name)

    @property
    def turns(self) -> list[str]:
        """Texts of the messages that started a turn, in order."""
        return [event.text for event in self.events if starts_turn(event, self.rules)]

    @property
    def edits(self) -> list[str]:
        return [event.text for event in self.events if event.kind is EventKind.EDIT]

    async def answered(self) -> None:
        """Wait until every answer that was begun has been sent."""
        while self._answering:
            await asyncio.gather(*self._answering)

    def _keep(self, received: Received) -> None:
        if received.event is None:
            self.faults.append(received.fault)
            return
        self.events.append(received.event)
        if starts_turn(received.event, self.rules) and self.adapter is not None:
            reply = answer_to(received.event, f"re: {received.event.text}")
            task: asyncio.Task[object] = asyncio.create_task(self.adapter.send(reply))
            self._answering.add(task)
            task.add_done_callback(self._answering.discard)
