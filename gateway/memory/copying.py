"""Copying a session's words to another place at the memory service, each message exactly once.

As in capture, rows are marked before they are handed over, and whatever happens then the service
is asked for their keys before they are sent again.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import structlog

from gateway.mailbox.lanes import Again, Outcome
from gateway.memory import parcels
from gateway.memory.capture import LONGEST, LOOK, LOOK_LONG, PAUSE
from gateway.memory.errors import TIMEOUT
from gateway.model.errors import (
    Disposition,
    MemoryAmbiguousError,
    MemoryRejectedError,
    MemoryServiceError,
)
from gateway.policy import observation
from gateway.policy.identity import Rung
from gateway.policy.saving import BATCH
from gateway.store import homes, messages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from gateway.mailbox.lanes import Lease
    from gateway.memory.parcels import Parcel
    from gateway.memory.rules import CaptureRules
    from gateway.model.ids import PeerId, SessionId
    from gateway.model.memory import MemoryMessage, Observation
    from gateway.ports import Clock, Memory
    from gateway.store.engine import Tx
    from gateway.store.homes import Home
    from gateway.store.sending import Row

log = structlog.get_logger(__name__)


class Copier:
    """Brings places of sessions up to date."""

    def __init__(self, clock: Clock, memory: Memory, rules: Callable[[], CaptureRules]) -> None:
        self._clock = clock
        self._memory = memory
        self._rules = rules

    async def copy(
        self, lease: Lease, home: Home, *, alone: bool, landed: Callable[[Tx, int], None]
    ) -> Outcome | None:
        """Send what is missing; None when all is there, else when to look again.

        ``alone``: one person's own session. ``landed`` hears in the same transaction how many
        messages the service has got.
        """
        try:
            return await self._copy(lease, home, alone=alone, landed=landed)
        except MemoryAmbiguousError as error:
            wait = LOOK_LONG if error.code == TIMEOUT else LOOK
            await lease.write(lambda tx: self._look_later(tx, home, wait))
            return Again(wait, error.code)
        except MemoryServiceError as error:
            return Again(pause(error), error.code)

    async def _copy(
        self, lease: Lease, home: Home, *, alone: bool, landed: Callable[[Tx, int], None]
    ) -> Outcome | None:
        at, present = home.copied, frozenset[str]()
        if home.flight is not None:
            if home.look_at is not None and home.look_at > self._clock.now():
                return Again((home.look_at - self._clock.now()).total_seconds(), "in_doubt")
            present = await self._there(lease, home)
        opened: set[PeerId] = set()
        while rows := await self._rows(lease, home, at):
            await self.open(home.name, rows, opened, alone=alone)
            at = rows[-1].seq
            await self._note_flight(lease, home, at)
            await self._send(home.name, [parcels.pack(row) for row in rows], present)
            await self._note_landing(lease, home, rows, landed)
            present = frozenset()
        return None

    async def _note_flight(self, lease: Lease, home: Home, until: int) -> None:
        look_at = self._clock.now() + timedelta(seconds=LOOK)
        await lease.write(lambda tx: homes.fly(tx, home, until, look_at=look_at))

    async def _note_landing(
        self, lease: Lease, home: Home, rows: Sequence[Row], landed: Callable[[Tx, int], None]
    ) -> None:
        def note(tx: Tx) -> None:
            homes.land(tx, home, rows[-1].seq)
            landed(tx, len(rows))

        await lease.write(note)

    async def _rows(self, lease: Lease, home: Home, at: int) -> list[Row]:
        return await lease.store.read(lambda conn: homes.rows(conn, home, after=at, limit=BATCH))

    async def _there(self, lease: Lease, home: Home) -> frozenset[str]:
        """Return the keys of what was in flight and arrived."""
        flying = await lease.store.read(
            lambda conn: homes.rows(conn, home, after=home.copied, until=home.flight, limit=BATCH)
        )
        keys = [message.key for row in flying for message in parcels.pack(row).messages]
        return frozenset(await self._memory.stored(home.name, keys)) if keys else frozenset()

    def _look_later(self, tx: Tx, home: Home, wait: float) -> None:
        now = next(one for one in homes.of(tx.conn, home.source) if one.id == home.id)
        if now.flight is not None:
            look_at = self._clock.now() + timedelta(seconds=wait)
            homes.fly(tx, home, now.flight, look_at=look_at)

    # --- requests ------------------------------------------------------------------------

    async def open(
        self, name: SessionId, rows: Sequence[Row], opened: set[PeerId], *, alone: bool
    ) -> None:
        """Make members of who speaks in ``rows``, unless ``opened`` has them already."""
        members = self.members(rows, alone=alone)
        missing = {peer: flags for peer, flags in members.items() if peer not in opened}
        if missing:
            await self._memory.open_session(name, missing)
            opened |= missing.keys()

    def members(self, rows: Iterable[Row], *, alone: bool) -> dict[PeerId, Observation]:
        """Return who takes part in what ``rows`` say, the agent always."""
        rules = self._rules()
        found = {rules.agent_peer: rules.observation.agent}
        for row in rows:
            if row.role == messages.ASSISTANT:
                found[row.peer] = rules.observation.agent
            else:
                found[row.peer] = observation.of_person(
                    rules.observation, alone=alone, attributed=row.rung != Rung.UNATTRIBUTED
                )
        return found

    async def _send(
        self, name: SessionId, packed: Sequence[Parcel], present: frozenset[str]
    ) -> None:
        for group in parcels.groups(packed):
            said = [one for parcel in group for one in parcel.messages if one.key not in present]
            for start in range(0, len(said), BATCH):
                await self.add(name, said[start : start + BATCH])

    async def add(self, name: SessionId, said: Sequence[MemoryMessage]) -> None:
        """Send messages; one that the service refuses for its content is left out and logged."""
        if not said:
            return
        try:
            await self._memory.add(name, said)
        except MemoryRejectedError:
            if len(said) == 1:
                log.error("memory.refused", action="rehome", session=name, key=said[0].key)
                return
            middle = len(said) // 2
            await self.add(name, said[:middle])
            await self.add(name, said[middle:])


def pause(error: MemoryServiceError) -> float:
    """Return the seconds until a service that failed is asked again."""
    if error.retry_after is not None:
        return min(error.retry_after, LONGEST)
    return LONGEST if error.disposition is Disposition.GIVE_UP else PAUSE
