"""Delivery: each part reaches its platform once, or is recorded as unknown or failed.

``sending`` is committed before the platform is called. A part found in that state was in flight
when something broke; what may be done then is the platform's declared ``Resend``.
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from typing import TYPE_CHECKING

import structlog

from gateway.mailbox.lanes import Again, Done, Outcome
from gateway.model.capabilities import Resend
from gateway.model.errors import (
    Disposition,
    PlatformError,
    RateLimitedError,
    UnreachableError,
)
from gateway.model.ids import PlaceId
from gateway.model.outbound import PartState
from gateway.pipeline.lateness import with_apology
from gateway.policy.retry import Backoff
from gateway.store import outbox, places, turns
from gateway.text import catalog

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from gateway.mailbox.items import Item
    from gateway.mailbox.lanes import Lease
    from gateway.model.files import SentFile
    from gateway.model.ids import AccountId, PlatformName
    from gateway.model.outbound import Part, Receipt, RichText
    from gateway.pipeline.ending import Ending
    from gateway.pipeline.post import Post
    from gateway.ports import Adapter, Clock
    from gateway.store.engine import Tx
    from gateway.store.outbox import StoredPart

    Letters = Callable[[Tx, str], RichText]

log = structlog.get_logger(__name__)

#: an outage of a platform is waited out for about a day, then the operator must decide
BACKOFF = Backoff(first=1.0, factor=2.0, ceiling=60.0, jitter=0.2, attempts=1500)
#: why a file did not arrive, as far as its person is told
REASONS = frozenset({"too_large", "forbidden", "gone"})
#: why a part waits whose platform does not run here
OFF = "platform_off"


class Delivery:
    """Handler of the ``deliver`` lane."""

    def __init__(
        self,
        clock: Clock,
        adapters: Mapping[tuple[PlatformName, AccountId], Adapter],
        *,
        post: Post,
        folder: Path,
        sealed: Mapping[str, Letters],
        ending: Ending,
        roll: Callable[[], float] = random.random,
    ) -> None:
        """``folder``: where the files of answers lie; ``sealed``: who fills in the letters of a
        purpose, which the database has not whole.
        """
        self._clock = clock
        self._adapters = adapters
        self._post = post
        self._folder = folder
        self._sealed = sealed
        self._ending = ending
        self._roll = roll
        self._started = clock.now()

    async def handle(self, lease: Lease) -> Outcome:
        """Send one part and write down what became of it."""
        if waits := await self._wait(lease):
            return waits
        stored = await lease.write(lambda tx: self._begin(tx, lease.item))
        if stored.state.final:
            return Done()
        adapter = self._adapters.get((stored.part.address.platform, stored.part.address.account))
        if adapter is None:
            return self._not_here(stored)
        try:
            receipt = await self._send(adapter, stored)
        except PlatformError as error:
            return self._refused(lease, adapter, stored, error)
        if receipt is None:
            return self._final(stored, PartState.UNKNOWN, error="interrupted")
        return self._delivered(stored, receipt)

    async def _wait(self, lease: Lease) -> Outcome | None:
        """Let a place's limits pass before the send is committed to have begun.

        Only where a send of unknown outcome is lost: a kill in the wait would look like one.
        """
        stored = await lease.store.read(lambda conn: outbox.load(conn, lease.item.payload["part"]))
        where = stored.part.address
        adapter = self._adapters.get((where.platform, where.account))
        if adapter is None or stored.state is not PartState.WAITING:
            return None
        if _resend(adapter, stored.part) is not Resend.NEVER:
            return None
        try:
            await adapter.ready(where)
        except RateLimitedError as error:
            return self._refused(lease, adapter, stored, error)
        return None

    def bury(self, tx: Tx, item: Item, error: str) -> None:
        """``on_dead`` of the lane."""
        stored = outbox.load(tx.conn, item.payload["part"])
        if not stored.state.final:
            lost = PartState.UNKNOWN if stored.part.in_doubt else PartState.FAILED
            self._end(tx, stored, lost, error)

    def _begin(self, tx: Tx, item: Item) -> StoredPart:
        stored = outbox.load(tx.conn, item.payload["part"])
        if stored.state.final:
            return stored
        key = _place_key(stored.part)
        if places.unreachable(tx.conn, key):
            self._ending.conclude(tx, stored, PartState.FAILED, error=UnreachableError.code)
            return replace(stored, state=PartState.FAILED)
        if stored.state is PartState.WAITING:
            stored = self._apologise(tx, stored)
            outbox.mark_sending(tx, stored.id, now=self._clock.now())
        return replace(stored, part=self._prepare(tx, stored, places.current(tx.conn, key)))

    def _apologise(self, tx: Tx, stored: StoredPart) -> StoredPart:
        """Put the line behind an answer that a restart made late, before it is sent at all."""
        where = stored.part.address
        adapter = self._adapters.get((where.platform, where.account))
        if adapter is None:
            return stored
        content = with_apology(
            tx.conn,
            stored,
            adapter.capabilities,
            started=self._started,
            now=self._clock.now(),
        )
        if content is None:
            return stored
        outbox.rewrite(tx, stored.id, content)
        return replace(stored, part=replace(stored.part, content=content))

    def _prepare(self, tx: Tx, stored: StoredPart, place: str) -> Part:
        """Return the part as it is sent: to where its place has moved, codes filled in."""
        part = stored.part
        if place != part.address.place:
            # Numbers of the old place mean other messages in the new one.
            moved = replace(part.address, place=PlaceId(place))
            part = replace(part, address=moved, reply_to=None, edits=None)
        if stored.purpose in self._sealed:
            return replace(part, content=self._sealed[stored.purpose](tx, part.key))
        return part

    async def _send(self, adapter: Adapter, stored: StoredPart) -> Receipt | None:
        """Send, or find out what became of an earlier send; None: that cannot be known."""
        if stored.part.in_doubt:
            resend = _resend(adapter, stored.part)
            if resend is Resend.NEVER:
                return None
            if resend is Resend.LOOK_UP:
                found = await adapter.look_up(stored.part)
                if found is not None:
                    return found
        if stored.part.file is None:
            return await adapter.send(stored.part)
        return await self._send_file(adapter, stored.part, stored.part.file)

    async def _send_file(self, adapter: Adapter, part: Part, file: SentFile) -> Receipt:
        if file.size > adapter.capabilities.max_upload:
            raise PlatformError("the file is larger than the platform takes", code="too_large")
        path = self._folder / file.name
        if not await asyncio.to_thread(path.is_file):
            raise PlatformError("the file has served its time and is deleted", code="gone")
        return await adapter.send_file(part, path)

    # --- outcomes ------------------------------------------------------------------------

    def _delivered(self, stored: StoredPart, receipt: Receipt) -> Outcome:
        def effects(tx: Tx) -> None:
            if receipt.moved_to is not None:
                places.follow(tx, _place_key(stored.part), receipt.moved_to, now=self._clock.now())
            self._ending.conclude(
                tx,
                stored,
                PartState.DELIVERED,
                sent_message=receipt.message,
                degraded=",".join(receipt.degraded),
            )

        return Done(effects)

    def _final(self, stored: StoredPart, state: PartState, *, error: str) -> Outcome:
        log.warning(
            "delivery.ended",
            action="deliver",
            turn=stored.part.turn,
            platform=stored.part.address.platform,
            state=state.value,
            code=error,
        )
        return Done(lambda tx: self._end(tx, stored, state, error))

    def _end(self, tx: Tx, stored: StoredPart, state: PartState, error: str) -> None:
        """Write down how a part ended; of a file that did not arrive its person is told."""
        self._ending.conclude(tx, stored, state, error=error)
        file = stored.part.file
        if file is None or state is not PartState.FAILED:
            return
        turn = None if stored.part.turn is None else turns.load(tx.conn, stored.part.turn)
        language = catalog.DEFAULT_LANGUAGE if turn is None else turn.language
        reason = error if error in REASONS else "refused"
        letter = outbox.Letter(key=f"unsent:{stored.id}", address=stored.part.address, contents=())
        self._post.notice(tx, letter, catalog.text(f"sent.{reason}", language, name=file.label))

    def _not_here(self, stored: StoredPart) -> Outcome:
        """Keep a part whose platform this process does not run; another start may."""

        def effects(tx: Tx) -> None:
            if not stored.part.in_doubt:
                outbox.mark_waiting(tx, stored.id, error=OFF, now=self._clock.now())

        return Again(BACKOFF.ceiling, OFF, counted=True, effects=effects)

    def _refused(
        self, lease: Lease, adapter: Adapter, stored: StoredPart, error: PlatformError
    ) -> Outcome:
        if isinstance(error, UnreachableError):
            if stored.part.file is not None:
                # words may be allowed where files are not: the notice of it finds out
                return self._final(stored, PartState.FAILED, error="forbidden")
            return self._unreachable(stored, error)
        if isinstance(error, RateLimitedError):
            return self._later(stored, error.retry_after or 1.0, error)
        # what an earlier send did is not undone by a refusal of this one
        lost = PartState.UNKNOWN if stored.part.in_doubt else PartState.FAILED
        match error.disposition:
            case Disposition.GIVE_UP:
                return self._final(stored, lost, error=error.code)
            case Disposition.AMBIGUOUS if _resend(adapter, stored.part) is Resend.NEVER:
                return self._final(stored, PartState.UNKNOWN, error=error.code)
        delay = BACKOFF.delay(
            lease.item.attempts, retry_after=error.retry_after, roll=self._roll()
        )
        if delay is None:
            return self._final(stored, lost, error=error.code)
        counted = error.retry_after is None
        if error.disposition is Disposition.AMBIGUOUS:
            return Again(delay, error.code, counted=counted)
        return self._later(stored, delay, error, counted=counted)

    def _later(
        self, stored: StoredPart, delay: float, error: PlatformError, *, counted: bool = False
    ) -> Outcome:
        log.info(
            "delivery.waits",
            action="deliver",
            turn=stored.part.turn,
            code=error.code,
            seconds=round(delay, 1),
        )

        def effects(tx: Tx) -> None:
            # a part in doubt stays so: its look-up may be what was refused
            if not stored.part.in_doubt:
                outbox.mark_waiting(tx, stored.id, error=error.code, now=self._clock.now())

        return Again(delay, error.code, counted=counted, effects=effects)

    def _unreachable(self, stored: StoredPart, error: PlatformError) -> Outcome:
        key = _place_key(stored.part)

        def effects(tx: Tx) -> None:
            places.mark_unreachable(tx, key, now=self._clock.now())
            self._ending.conclude(tx, stored, PartState.FAILED, error=error.code)

        log.warning(
            "delivery.unreachable",
            action="deliver",
            turn=stored.part.turn,
            platform=stored.part.address.platform,
        )
        return Done(effects)


def _resend(adapter: Adapter, part: Part) -> Resend:
    """Return what may be done about a send of unknown outcome.

    Changing an own message twice changes nothing more. What is asked after the send counts: it
    may have changed from a post to such a change, or back.
    """
    changes = part.edits is not None or adapter.finishing(part)
    return Resend.IDEMPOTENT if changes else adapter.capabilities.resend


def _place_key(part: Part) -> places.PlaceKey:
    return places.PlaceKey(part.address.platform, part.address.account, part.address.place)
