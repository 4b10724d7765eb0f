"""Capture: a session's ledger reaches the memory service in order, each message exactly once.

A row is marked *sending* before it is handed over. Whatever happens then, the service is asked
for its key before it is sent again; only an answer that nothing was stored makes it due at once.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import timedelta
from itertools import takewhile
from typing import TYPE_CHECKING

import structlog

from gateway.mailbox import items
from gateway.mailbox.lanes import Again, Done, Outcome
from gateway.memory import parcels
from gateway.memory.errors import TIMEOUT
from gateway.memory.lane import wants_everything, wants_opening
from gateway.model.errors import (
    Disposition,
    MemoryAmbiguousError,
    MemoryCredentialsError,
    MemoryGoneError,
    MemoryRejectedError,
    MemoryServiceError,
)
from gateway.model.ids import SessionId
from gateway.policy import naming, saving
from gateway.policy.crashes import COMPANY
from gateway.policy.retry import Backoff
from gateway.store import members, messages, names, sending
from gateway.store.ledger import LedgerState

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gateway.mailbox.items import Item
    from gateway.mailbox.lanes import Lease
    from gateway.memory.lane import Wake
    from gateway.memory.membership import Membership
    from gateway.memory.parcels import Parcel
    from gateway.memory.rules import CaptureRules
    from gateway.ports import Clock, Memory
    from gateway.store.engine import Connection, Tx
    from gateway.store.sending import Row, SessionRecord

log = structlog.get_logger(__name__)

#: seconds after a broken request in which the service may still be storing it, and after one
#: that it did not answer in time
LOOK, LOOK_LONG = 8.0, 30.0
#: seconds until a service is looked at again that cannot be reached, and at most
PAUSE, LONGEST = 5.0, 60.0
#: seconds between looks at a session that the service loses as soon as it is opened
LOST = 300.0
#: pauses between sends that the service answered and did not do; only the operator ends them
IN_VAIN = Backoff(first=2.0, factor=2.0, ceiling=LONGEST, jitter=0.2, attempts=1_000_000)
#: of the lane: what counts are defects of ours, never the service
BACKOFF = Backoff(first=2.0, factor=3.0, ceiling=LONGEST, jitter=0.2, attempts=20)

#: why a row is parked: its content was refused, or the service fails on it and on no other
REFUSED, FAILING = "refused", "failing"


@dataclass(frozen=True, slots=True)
class _Doubt:
    """Rows that were in flight: it is time to ask what became of them."""

    session: SessionRecord
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class _Batch:
    """Rows marked as in flight, to be handed over now."""

    session: SessionRecord
    rows: tuple[Row, ...]


_Step = _Doubt | _Batch | Outcome


class Capture:
    """Handler of the ``memory`` lane, whose key is a session: so there is one writer for each."""

    def __init__(
        self,
        clock: Clock,
        memory: Memory,
        rules: Callable[[], CaptureRules],
        *,
        membership: Membership,
        wake: Wake,
        roll: Callable[[], float] = random.random,
    ) -> None:
        self._clock = clock
        self._memory = memory
        self._rules = rules
        self._membership = membership
        self._wake = wake
        self._roll = roll
        #: the process is about to stop: whatever waits is to go
        self.draining = False

    async def handle(self, lease: Lease) -> Outcome:
        """Send what is due of one session, or say when to look again."""
        if wants_opening(lease.item):
            await self._open(lease)
        step = await lease.write(lambda tx: self._begin(tx, lease.item))
        while True:
            match step:
                case _Doubt():
                    step = await self._reconcile(lease, step)
                case _Batch():
                    step = await self._send(lease, step)
                case _:
                    return step

    async def _open(self, lease: Lease) -> None:
        """Open the session before its first message; that message opens it otherwise."""
        name = SessionId(lease.item.key)
        session = await lease.store.read(lambda conn: sending.record(conn, name))
        if session is None:
            return
        try:
            await self._membership.open(lease, session, ())
        except MemoryServiceError as error:
            log.info("memory.not_opened", action="capture", session=name, code=error.code)

    def ripe(self, conn: Connection, name: SessionId, *, closed: bool) -> bool:
        """Tell whether ``writeFrequency`` lets a session's rows go now."""
        turns, last = sending.turns_waiting(conn, name)
        if last is None:
            return False
        quiet = (self._clock.now() - last).total_seconds()
        waiting = saving.Waiting(turns, quiet, closed)
        return self.draining or saving.ripe(self._rules().frequency, waiting)

    # --- choosing ------------------------------------------------------------------------

    def _begin(self, tx: Tx, item: Item) -> _Step:
        session = sending.record(tx.conn, SessionId(item.key))
        if session is None:
            return Done()
        if session.replaced_by is not None:
            sending.move_rows(tx, session.id, session.replaced_by)
            self._wake(tx, session.replaced_by)
            return Done()
        behind = items.waiting_behind(tx, item, limit=saving.BATCH)
        everything = any(map(wants_everything, (item, *behind)))
        usual = [each.id for each in behind if not wants_everything(each)]
        items.absorb(tx, usual, now=self._clock.now())
        return self._step(tx, session, go=everything)

    def _step(self, tx: Tx, session: SessionRecord, *, go: bool) -> _Step:
        """Return what to do next; ``go``: rows are being sent, so send the rest of them too."""
        rows = sending.open_rows(tx.conn, session.id, limit=saving.BATCH)
        in_flight = tuple(row for row in rows if row.state is LedgerState.SENDING)
        if in_flight:
            wait = max(self._until(row) for row in in_flight)
            return Again(wait, "memory_in_doubt") if wait > 0 else _Doubt(session, in_flight)
        due = list(takewhile(lambda row: row.state is LedgerState.DUE, rows))
        unwanted = [row for row in due if self._unwanted(row)]
        if unwanted:
            for row in unwanted:
                reason = self._unwanted(row)
                sending.settle(tx, session.id, [row], LedgerState.SKIPPED, reason=reason)
            return self._step(tx, session, go=go)
        closed = session.closed_at is not None
        if not due or not (go or self.ripe(tx.conn, session.id, closed=closed)):
            return Done()
        return self._mark(tx, session, due)

    def _mark(self, tx: Tx, session: SessionRecord, due: Sequence[Row]) -> _Batch:
        late = sending.overtaken(tx.conn, session.id, due[0].seq)
        first, end = saving.choose([row.attempts for row in due], overtaken=late)
        look_at = self._clock.now() + timedelta(seconds=LOOK)
        limit = self._rules().part_limit
        rows = sending.begin(tx, due[first:end], part_limit=limit, look_at=look_at)
        return _Batch(session, rows)

    def _until(self, row: Row) -> float:
        if row.look_at is None:
            return 0.0
        return (row.look_at - self._clock.now()).total_seconds()

    def _unwanted(self, row: Row) -> str:
        rules = self._rules()
        return rules.skip_agent if row.role == messages.ASSISTANT else rules.skip_user

    # --- asking what became of rows in flight -----------------------------------------------

    async def _reconcile(self, lease: Lease, doubt: _Doubt) -> _Step:
        packed = [parcels.pack(row) for row in doubt.rows]
        keys = [message.key for parcel in packed for message in parcel.messages]
        try:
            present = await self._memory.stored(doubt.session.id, keys)
        except MemoryGoneError as error:
            return await self._lost(lease, error)
        except MemoryServiceError as error:
            return Again(_pause(error), error.code)
        saved = [parcel.row for parcel in packed if parcel.keys <= present]
        missing = [parcel.row for parcel in packed if not parcel.keys <= present]
        deadly = lease.item.crashes >= COMPANY
        return await lease.write(
            lambda tx: self._conclude(tx, doubt.session, saved, missing, deadly=deadly)
        )

    def _conclude(
        self,
        tx: Tx,
        session: SessionRecord,
        saved: Sequence[Row],
        missing: Sequence[Row],
        *,
        deadly: bool,
    ) -> _Step:
        sending.settle(tx, session.id, saved, LedgerState.SAVED)
        if not missing:
            return self._step(tx, session, go=True)
        sending.take_back(tx, session.id, in_vain=True)
        attempts = missing[0].attempts + 1
        alone = len(missing) == 1 and not saved
        late = sending.overtaken(tx.conn, session.id, missing[0].seq)
        if saving.poisonous(attempts, alone=alone, overtaken=late, deadly=deadly):
            self._park(tx, session.id, missing[0], FAILING)
        elif attempts > 1:
            delay = IN_VAIN.delay(attempts - 1, roll=self._roll())
            return Again(delay or LONGEST, "memory_failing")
        return self._step(tx, session, go=True)

    # --- handing over ------------------------------------------------------------------------

    async def _send(self, lease: Lease, batch: _Batch) -> _Step:
        try:
            await self._membership.open(lease, batch.session, batch.rows)
            for group in parcels.groups(map(parcels.pack, batch.rows)):
                await self._deliver(lease, batch.session.id, group)
        except MemoryGoneError as error:
            return await self._lost(lease, error)
        except MemoryAmbiguousError as error:
            return self._in_doubt(batch.session.id, error)
        except MemoryServiceError as error:
            return self._not_taken(batch.session.id, error)
        return await lease.write(lambda tx: self._step(tx, batch.session, go=True))

    async def _deliver(self, lease: Lease, name: SessionId, group: list[Parcel]) -> None:
        """Hand over a group; where its content is refused, find out whose it is."""
        rows = [parcel.row for parcel in group]
        try:
            await self._add(name, group)
        except MemoryRejectedError:
            if len(group) == 1:
                await lease.write(lambda tx: self._park(tx, name, rows[0], REFUSED))
                return
            middle = len(group) // 2
            await self._deliver(lease, name, group[:middle])
            await self._deliver(lease, name, group[middle:])
            return
        await lease.write(lambda tx: sending.settle(tx, name, rows, LedgerState.SAVED))

    async def _add(self, name: SessionId, group: Sequence[Parcel]) -> None:
        said = [message for parcel in group for message in parcel.messages]
        if len(said) > saving.BATCH:
            # One message in so many parts that some may be there from an earlier try.
            present = await self._memory.stored(name, [message.key for message in said])
            said = [message for message in said if message.key not in present]
        for start in range(0, len(said), saving.BATCH):
            await self._memory.add(name, said[start : start + saving.BATCH])

    def _park(self, tx: Tx, name: SessionId, row: Row, reason: str) -> None:
        log.error("memory.parked", action="capture", session=name, row=row.seq, reason=reason)
        sending.settle(tx, name, [row], LedgerState.PARKED, reason=reason)

    # --- what went wrong ------------------------------------------------------------------

    def _in_doubt(self, name: SessionId, error: MemoryServiceError) -> Outcome:
        wait = LOOK_LONG if error.code == TIMEOUT else LOOK
        look_at = self._clock.now() + timedelta(seconds=wait)
        log.warning("memory.in_doubt", action="capture", session=name, code=error.code)
        return Again(
            wait, error.code, effects=lambda tx: sending.look_later(tx, name, look_at=look_at)
        )

    def _not_taken(self, name: SessionId, error: MemoryServiceError) -> Outcome:
        """Nothing more was stored: wait until the service is better."""
        level = log.error if isinstance(error, MemoryCredentialsError) else log.warning
        level("memory.waits", action="capture", session=name, code=error.code, error=str(error))
        return Again(
            _pause(error),
            error.code,
            effects=lambda tx: sending.take_back(tx, name, in_vain=False),
        )

    async def _lost(self, lease: Lease, error: MemoryGoneError) -> Outcome:
        """Go on in another session, if it is this session that is gone and not the service."""
        name = SessionId(lease.item.key)
        try:
            await self._memory.pending()
        except MemoryServiceError as trouble:
            return Again(_pause(trouble), trouble.code)
        return await lease.write(lambda tx: self._rotate(tx, name, error))

    def _rotate(self, tx: Tx, name: SessionId, error: MemoryGoneError) -> Outcome:
        session = sending.record(tx.conn, name)
        if session is None:
            return Done()
        if sending.replaces(tx.conn, name) and not members.of(tx.conn, name):
            sending.take_back(tx, name, in_vain=False)
            return Again(LOST, error.code)
        original = f"{name}\n{session.ordinal}"
        owner = names.owner(tx.conn, names.SESSION)
        fresh = SessionId(naming.pick(naming.hashed(name, original), original, owner))
        names.take(tx, names.SESSION, fresh, original)
        sending.supersede(tx, session, fresh, now=self._clock.now())
        sending.move_rows(tx, name, fresh)
        log.warning("memory.replaced", action="capture", session=name, by=fresh)
        self._wake(tx, fresh, everything=True)
        return Done()


def _pause(error: MemoryServiceError) -> float:
    if error.retry_after is not None:
        return min(error.retry_after, LONGEST)
    return LONGEST if error.disposition is Disposition.GIVE_UP else PAUSE
