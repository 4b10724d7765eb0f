"""``memory replay``: what was said goes into the memory service that is configured now.

The service is asked for each message's key before it is sent, so that a replay may be given
twice, be killed, or meet a service that has a part of it already. What was not saved anywhere
yet is left to capture.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.mailbox.lanes import Again, Outcome
from gateway.memory import parcels
from gateway.memory.copying import pause
from gateway.model.errors import MemoryServiceError
from gateway.model.ids import PeerId
from gateway.people import plan
from gateway.policy.saving import BATCH
from gateway.store import hand_notes, homes, rehome_jobs
from gateway.store.hand_notes import NoteKind
from gateway.store.homes import HomeState
from gateway.store.ledger import LedgerState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from gateway.mailbox.lanes import Lease
    from gateway.memory.copying import Copier
    from gateway.memory.rules import CaptureRules
    from gateway.model.ids import SessionId
    from gateway.ports import Clock, Memory
    from gateway.store.engine import Connection, Tx
    from gateway.store.hand_notes import Note
    from gateway.store.homes import Home, Source
    from gateway.store.rehome_jobs import Job
    from gateway.store.sending import Row


class Carry:
    """Carries every place of every session over, the oldest session first."""

    def __init__(
        self, clock: Clock, memory: Memory, copier: Copier, rules: Callable[[], CaptureRules]
    ) -> None:
        self._clock = clock
        self._memory = memory
        self._copier = copier
        self._rules = rules

    async def run(self, lease: Lease, job: Job, counted: Callable[[Tx], None]) -> Outcome | None:
        """Carry what is left; None when everything is there, else when to go on."""
        rules = self._rules()
        places = await lease.store.read(lambda conn: self._places(conn, job))
        start = next((n for n, (_, one) in enumerate(places) if one.name == job.at_session), 0)
        try:
            await self._memory.register_agent(rules.agent, rules.agent_peer)
            for number, (source, home) in enumerate(places[start:]):
                resumed = number == 0 and home.name == job.at_session
                after = job.at_seq if resumed else 0
                await self._place(lease, job, source, home, after=after, counted=counted)
            await self._by_hand(lease, job)
        except MemoryServiceError as error:
            return Again(pause(error), error.code)
        return None

    async def _by_hand(self, lease: Lease, job: Job) -> None:
        """Write down again what no message holds."""
        kinds = (NoteKind.CONCLUSION, NoteKind.FACTS)
        places = await lease.store.read(homes.of_all)
        for note in await lease.store.read(lambda conn: hand_notes.of(conn, *kinds)):
            if job.people is not None and note.holder not in job.people:
                continue
            observer = note.holder if note.observer == note.observed else PeerId(note.observer)
            if note.kind is NoteKind.FACTS:
                own = await self._memory.card(observer, note.holder)
                wanted = list(dict.fromkeys((*own, *note.content)))
                if len(wanted) != len(own):
                    await self._memory.set_card(observer, note.holder, wanted)
                continue
            known = await self._memory.conclusions(observer, note.holder, limit=BATCH)
            if all(text != note.content for _, text in known):
                session = None if note.session is None else _standing(note.session, places)
                ref = await self._memory.conclude(observer, note.holder, note.content, session)
                await self._known_as(lease, note, ref)

    async def _known_as(self, lease: Lease, note: Note, ref: str) -> None:
        """Note the id that a conclusion has in this service; its former place is not there."""
        own = ref if note.holder == note.observed else ""
        await lease.write(lambda tx: hand_notes.update(tx, note.id, ref=own, held_ref=ref))

    def _places(self, conn: Connection, job: Job) -> list[tuple[Source, Home]]:
        return list(
            chosen(homes.sources(conn), homes.of_all(conn), job.people, self._rules().part_limit)
        )

    async def _place(
        self,
        lease: Lease,
        job: Job,
        source: Source,
        home: Home,
        *,
        after: int,
        counted: Callable[[Tx], None],
    ) -> None:
        opened: set[PeerId] = set()
        while rows := await self._rows(lease, home, after):
            after = rows[-1].seq
            # what capture still has to send, it sends to the session's own name
            wanted = [row for row in rows if not home.original or row.state is LedgerState.SAVED]
            alone = source.peer is not None
            await self._copier.open(home.name, wanted, opened, alone=alone)
            await self._send(home, wanted)

            def note(tx: Tx, after: int = after, count: int = len(wanted)) -> None:
                self._note(tx, job, home, after=after, count=count)
                counted(tx)

            await lease.write(note)
        await lease.write(
            lambda tx: rehome_jobs.progress(tx, job.id, sessions=1, now=self._clock.now())
        )

    async def _rows(self, lease: Lease, home: Home, after: int) -> list[Row]:
        return await lease.store.read(
            lambda conn: homes.rows(conn, home, after=after, limit=BATCH)
        )

    async def _send(self, home: Home, rows: Sequence[Row]) -> None:
        said = [message for row in rows for message in parcels.pack(row).messages]
        present = await self._memory.stored(home.name, [one.key for one in said]) if said else ()
        missing = [one for one in said if one.key not in present]
        for begin in range(0, len(missing), BATCH):
            await self._copier.add(home.name, missing[begin : begin + BATCH])

    def _note(self, tx: Tx, job: Job, home: Home, *, after: int, count: int) -> None:
        now = self._clock.now()
        rehome_jobs.update(tx, job.id, now=now, at_session=home.name, at_seq=after)
        rehome_jobs.progress(tx, job.id, messages=count, now=now)


def _standing(session: SessionId, places: Mapping[SessionId, list[Home]]) -> SessionId:
    """Return the name under which a session stands at the service."""
    here = (one.name for one in places.get(session, []) if one.state is HomeState.ACTIVE)
    return next(here, session)


def chosen(
    found: Sequence[Source],
    places: Mapping[SessionId, list[Home]],
    people: Iterable[str] | None,
    part_limit: int = 0,
) -> Iterator[tuple[Source, Home]]:
    """Yield every place that holds words of these people; None: of anybody."""
    wanted = None if people is None else set(people)
    for source in found:
        peers = {one: peer for one, peer in plan.original(source).items() if peer is not None}
        for home in places.get(source.id) or [homes.own(source, peers, part_limit=part_limit)]:
            speakers = set(home.peers.values()) | {str(source.peer)}
            if wanted is None or speakers & wanted:
                yield source, home
