"""Memory follows identity: the lane that copies sessions to the peers whose words they are.

One job at a time. Each step is looked for anew from what the configuration says at that moment,
and committed before the next, so that a kill costs one look and nothing is done twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import structlog

from gateway.mailbox.lanes import Again, Done, Lane, Outcome
from gateway.memory.copying import Copier, pause
from gateway.memory.pace import Pace
from gateway.model.errors import ConfigurationError, MemoryServiceError
from gateway.model.ids import ConversationKey, PeerId, SessionId
from gateway.people import plan
from gateway.people.belongings import Belongings
from gateway.people.carry import Carry
from gateway.people.census import author_of
from gateway.people.conclusions import Conclusions
from gateway.policy import naming
from gateway.policy.retry import Backoff
from gateway.store import audit, homes, names, rehome_jobs, sessions
from gateway.store.homes import Home, HomeState

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from gateway.mailbox.lanes import Lease
    from gateway.memory.files import MemoryFiles
    from gateway.memory.honcho import HonchoMemory
    from gateway.memory.rules import CaptureRules
    from gateway.people.plan import Task
    from gateway.people.preview import Ground
    from gateway.ports import Clock, Memory
    from gateway.settings.home import Home as Folder
    from gateway.store.engine import Connection, Tx
    from gateway.store.rehome_jobs import Job

log = structlog.get_logger(__name__)

#: name of the lane, and its one key
REHOME = "rehome"
#: requests a second
RATE = 4.0
#: only defects of ours count, and the work is never given up for them
BACKOFF = Backoff(first=2.0, factor=3.0, ceiling=60.0, jitter=0.2, attempts=1_000_000)
#: seconds between looks at a session in which a turn still runs
BUSY = 2.0
#: seconds between looks at a configuration that cannot be read
UNREADABLE = 10.0


@dataclass(frozen=True, slots=True)
class Parts:
    """What the lane works with."""

    clock: Clock
    memory: Memory
    copier: Copier
    pace: Pace
    rules: Callable[[], CaptureRules]
    #: who wrote and the rules in force, read anew
    ground: Callable[[], Awaitable[Ground]]
    #: another one: the rules in force are others, so look again
    revision: Callable[[], str]
    #: cards and memory files
    belongings: Belongings | None = None


class Follow:
    """Handler of the ``rehome`` lane."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._clock = parts.clock
        self._counted = 0
        self._conclusions = Conclusions(parts.memory)
        self._carry = Carry(parts.clock, parts.memory, parts.copier, parts.rules)

    async def handle(self, lease: Lease) -> Outcome:
        """Do one job to its end, or say when to go on with it."""
        number = int(lease.item.payload["job"])
        job = await lease.store.read(lambda conn: rehome_jobs.load(conn, number))
        if job is None or job.state == rehome_jobs.DONE:
            return Done()
        try:
            outcome = await self._work(lease, job)
        except MemoryServiceError as error:
            outcome = Again(pause(error), error.code)
        except ConfigurationError as error:
            outcome = Again(UNREADABLE, error.code)
        if isinstance(outcome, Again):
            await lease.write(lambda tx: self._said(tx, job, outcome.error))
        return outcome

    def _said(self, tx: Tx, job: Job, error: str) -> None:
        rehome_jobs.update(tx, job.id, now=self._clock.now(), error=error)

    async def _work(self, lease: Lease, job: Job) -> Outcome:
        if job.kind == rehome_jobs.FOLLOW:
            while found := await self._tasks(lease, job):
                revision = self._parts.revision()
                for task in found:
                    if self._parts.revision() != revision:
                        break
                    if waiting := await self._move(lease, job, task):
                        return waiting
            await self._bring_along(lease, job)
        if job.kind == rehome_jobs.REPLAY:
            if waiting := await self._carry.run(lease, job, lambda tx: self._count(tx, job)):
                return waiting
        else:
            await self._tidy(lease, job)
        return Done(lambda tx: self._finish(tx, job))

    def _finish(self, tx: Tx, job: Job) -> None:
        now = self._clock.now()
        self._count(tx, job)
        ended: dict[str, Any] = {"state": rehome_jobs.DONE, "finished_at": now, "error": ""}
        if job.kind == rehome_jobs.REPLAY:
            # a session at which the process died was counted twice, or not at all
            ended["sessions_done"] = job.sessions_total
        rehome_jobs.update(tx, job.id, now=now, **ended)
        audit.record(tx, f"memory.{job.kind}", actor=job.actor, now=now, job=job.id)
        log.info("memory.rehomed", action=job.kind, job=job.id)

    # --- following ---------------------------------------------------------------------------

    async def _tasks(self, lease: Lease, job: Job) -> list[Task]:
        ground = await self._parts.ground()
        people = None if job.people is None else frozenset(job.people)
        return await lease.store.read(
            lambda conn: pending(conn, ground, groups=job.groups, people=people)
        )

    async def _move(self, lease: Lease, job: Job, task: Task) -> Outcome | None:
        """Bring one session to where it belongs; None when it stands there."""
        home = await lease.write(lambda tx: self._place(tx, task))
        alone = task.source.peer is not None
        if not home.original:
            waiting = await self._parts.copier.copy(
                lease, home, alone=alone, landed=lambda tx, count: self._landed(tx, job, count)
            )
            if waiting is not None:
                return waiting
        if not await lease.write(lambda tx: self._arrive(tx, job, home)):
            return Again(BUSY, "turn_running")
        return None

    def _place(self, tx: Tx, task: Task) -> Home:
        """Return the place to fill; nothing more is said in the session from now on."""
        source, now = task.source, self._clock.now()
        key = ConversationKey(source.conversation)
        known = sessions.find(tx.conn, key)
        if known is not None and known.session == source.id:
            sessions.close(tx, key, reason="identity", now=now)
        places = homes.of(tx.conn, source.id)
        if not places:
            mine = {one: peer or f"?{one}" for one, peer in plan.original(source).items()}
            self._add(tx, source.id, source.id, mine, HomeState.ACTIVE)
        wanted = homes.sign(task.peers)
        places = [one for one in homes.of(tx.conn, source.id) if one.signature == wanted]
        fitting = [one for one in places if one.state is not HomeState.DROPPED]
        if fitting:
            if fitting[-1].state is HomeState.KEPT and not fitting[-1].original:
                homes.wake(tx, fitting[-1])
            return fitting[-1]
        number = len(homes.of(tx.conn, source.id))
        text = f"{source.id}\nhome\n{number}"
        owner = names.owner(tx.conn, names.SESSION)
        name = SessionId(naming.pick(naming.hashed(source.id, text), text, owner))
        names.take(tx, names.SESSION, name, text)
        self._add(tx, source.id, name, task.peers, HomeState.COPYING)
        return next(one for one in homes.of(tx.conn, source.id) if one.name == name)

    def _add(
        self,
        tx: Tx,
        source: SessionId,
        name: SessionId,
        peers: Mapping[str, str],
        state: HomeState,
    ) -> None:
        homes.add(
            tx,
            source,
            name,
            peers,
            state=state,
            part_limit=self._parts.rules().part_limit,
            now=self._clock.now(),
        )

    def _landed(self, tx: Tx, job: Job, count: int) -> None:
        rehome_jobs.progress(tx, job.id, messages=count, now=self._clock.now())
        self._count(tx, job)

    def _count(self, tx: Tx, job: Job) -> None:
        """Write down the requests made since that was done last."""
        made, self._counted = self._parts.pace.requests - self._counted, self._parts.pace.requests
        if made:
            rehome_jobs.progress(tx, job.id, requests=made, now=self._clock.now())

    def _arrive(self, tx: Tx, job: Job, home: Home) -> bool:
        """Recall the session from its new place, unless more is still being said in it."""
        if homes.busy(tx.conn, home.source):
            return False
        now = next(one for one in homes.of(tx.conn, home.source) if one.id == home.id)
        if not home.original and homes.rows(tx.conn, now, after=now.copied, limit=1):
            return False
        homes.activate(tx, home)
        rehome_jobs.progress(tx, job.id, sessions=1, now=self._clock.now())
        return True

    async def _bring_along(self, lease: Lease, job: Job) -> None:
        """Let follow what no message holds: conclusions by hand, cards, memory files."""
        whose = owners(await self._parts.ground())
        await self._conclusions.follow(lease, whose)
        if self._parts.belongings is not None:
            await self._parts.belongings.follow(lease, job, whose)

    # --- tidying -----------------------------------------------------------------------------

    async def _tidy(self, lease: Lease, job: Job) -> None:
        """Take away copies that are nobody's any more; a purge takes what they replaced too."""
        purge = job.kind == rehome_jobs.PURGE
        if purge and job.people is None:
            await self._conclusions.purge(lease)
            if self._parts.belongings is not None:
                await self._parts.belongings.purge(lease)
        for home in await lease.store.read(lambda conn: _leftovers(conn, originals=purge)):
            if purge and home.original and not _concerns(home, job):
                continue
            await self._drop(lease, job, home)

    async def _drop(self, lease: Lease, job: Job, home: Home) -> None:
        await self._parts.memory.delete_session(home.name)
        counted = int(job.kind == rehome_jobs.PURGE)

        def note(tx: Tx) -> None:
            homes.drop(tx, home)
            rehome_jobs.progress(tx, job.id, sessions=counted, now=self._clock.now())
            self._count(tx, job)

        await lease.write(note)


def pending(
    conn: Connection, ground: Ground, *, groups: bool, people: frozenset[str] | None
) -> list[Task]:
    """Return the sessions that stand for another peer than their speakers are."""
    return plan.tasks(
        homes.sources(conn),
        homes.of_all(conn),
        owners(ground),
        groups=groups,
        people=people,
    )


def owners(ground: Ground) -> dict[str, PeerId]:
    """Return author → peer of everybody who has an account."""
    found = ground.resolve(ground.rules)
    return {author_of(account): identity.peer for account, identity in found.items()}


def _leftovers(conn: Connection, *, originals: bool) -> list[Home]:
    return list(plan.leftovers(homes.sources(conn), homes.of_all(conn), originals=originals))


def _concerns(home: Home, job: Job) -> bool:
    return job.people is None or bool(set(home.peers.values()) & set(job.people))


@dataclass(frozen=True, slots=True)
class Following:
    """The lane, and the client to be closed after it."""

    lane: Lane
    memory: Memory


def open_following(
    memory: HonchoMemory,
    clock: Clock,
    *,
    rules: Callable[[], CaptureRules],
    ground: Callable[[], Awaitable[Ground]],
    revision: Callable[[], str],
    home: Folder,
    files: MemoryFiles,
) -> Following:
    """Put the lane together over a client of its own, which never asks in a hurry."""
    pace = Pace(clock, RATE)
    paced = memory.paced(pace, clock)
    copier = Copier(clock, paced, rules)
    belongings = Belongings(paced, clock, home, files, rules)
    handler = Follow(Parts(clock, paced, copier, pace, rules, ground, revision, belongings))
    return Following(Lane(REHOME, handler.handle, BACKOFF, concurrency=1, patient=True), paced)
