"""What an operator asks of memory when somebody became another peer: shown first, then a job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.model.errors import ConfigurationError
from gateway.people import carry, follow, plan
from gateway.people.values import Following
from gateway.store import audit, homes, rehome_jobs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gateway.memory.lane import Puts
    from gateway.people.plan import Task
    from gateway.people.preview import Ground
    from gateway.people.service import People
    from gateway.ports import Clock
    from gateway.store.engine import Connection, Store, Tx
    from gateway.store.identity_changes import Author
    from gateway.store.rehome_jobs import Job


class Rehoming:
    """Offers, starts and watches jobs; the running gateway does them."""

    def __init__(self, people: People, store: Store, clock: Clock, mailbox: Puts) -> None:
        self._people = people
        self._store = store
        self._clock = clock
        self._mailbox = mailbox

    async def preview(
        self, people: Iterable[str] | None = None, *, groups: bool = False
    ) -> Following:
        """Return what letting memory follow would do; ``people`` None: everybody's."""
        ground = await self._people.ground()
        wanted = None if people is None else frozenset(people)
        return await self._store.read(lambda conn: _following(conn, ground, wanted, groups=groups))

    async def start(
        self, author: Author, people: Iterable[str] | None = None, *, groups: bool = False
    ) -> Job:
        """Let memory follow in the background. Nothing is taken away from where it was."""
        wanted = None if people is None else tuple(people)
        seen = await self.preview(wanted, groups=groups)
        totals = (seen.estimate.sessions, seen.estimate.messages)
        return await self._add(rehome_jobs.FOLLOW, author, wanted, groups=groups, totals=totals)

    async def purge(self, author: Author, people: Iterable[str] | None = None) -> Job:
        """Take away what memory has followed from; after that an undo has to copy again."""
        wanted = None if people is None else tuple(people)
        kept = (await self.preview(wanted)).kept
        return await self._add(rehome_jobs.PURGE, author, wanted, groups=False, totals=(kept, 0))

    async def replay(self, author: Author, person: str | None = None) -> Job:
        """Carry a person, or everybody, into the memory service that is configured now."""
        wanted = None if person is None else (person,)
        concerned = await self._store.read(
            lambda conn: list(carry.chosen(homes.sources(conn), homes.of_all(conn), wanted))
        )
        if not concerned:
            raise ConfigurationError(
                "nothing was said yet" if person is None else f"{person} has not said anything"
            )
        totals = (len(concerned), sum(source.messages for source, _ in concerned))
        return await self._add(rehome_jobs.REPLAY, author, wanted, groups=True, totals=totals)

    async def jobs(self, limit: int = 20) -> list[Job]:
        """Return the jobs, the newest first."""
        return await self._store.read(lambda conn: rehome_jobs.listed(conn, limit=limit))

    async def job(self, id_: int) -> Job:
        """Return one job. Raises ``ConfigurationError`` where there is none."""
        found = await self._store.read(lambda conn: rehome_jobs.load(conn, id_))
        if found is None:
            raise ConfigurationError(f"there is no job {id_}")
        return found

    async def _add(
        self,
        kind: str,
        author: Author,
        people: tuple[str, ...] | None,
        *,
        groups: bool,
        totals: tuple[int, int],
    ) -> Job:
        now = self._clock.now()

        def write(tx: Tx) -> Job | None:
            id_ = rehome_jobs.add(
                tx, kind, author, people=people, groups=groups, totals=totals, now=now
            )
            self._mailbox.put(
                tx, follow.REHOME, follow.REHOME, dedupe=f"job/{id_}", payload={"job": id_}
            )
            audit.record(
                tx,
                f"memory.{kind}_asked",
                actor=author.actor,
                now=now,
                job=id_,
                reason=author.reason,
            )
            return rehome_jobs.load(tx.conn, id_)

        job = await self._store.write(write)
        if job is None:
            raise LookupError("a job that was just written is not there")
        return job


def _following(
    conn: Connection, ground: Ground, people: frozenset[str] | None, *, groups: bool
) -> Following:
    found, places = homes.sources(conn), homes.of_all(conn)
    owners = follow.owners(ground)
    every = plan.tasks(found, places, owners, groups=True, people=people)
    chosen = [one for one in every if groups or not one.shared]
    kept = [
        one
        for one in plan.leftovers(found, places, originals=True)
        if one.original and (people is None or set(one.peers.values()) & people)
    ]
    return Following(
        estimate=plan.estimate(chosen),
        moves=tuple(sorted({move for one in chosen for move in _moves(one)})),
        groups=sum(one.shared for one in every),
        derived_anew=tuple(sorted({peer for one in chosen if one.shared for peer in _all(one)})),
        kept=len(kept),
    )


def _moves(task: Task) -> list[tuple[str, str]]:
    return [(str(task.present[one] or "several"), str(task.peers[one])) for one in task.moved]


def _all(task: Task) -> set[str]:
    return {str(peer) for peer in task.peers.values()}
