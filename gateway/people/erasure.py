"""Erasing a person: the database first, in one step, then files and the memory service.

What the first step leaves to do is kept as a job, so that neither a crash nor a service that is
away loses it; every later step may be done again.
"""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import structlog

from gateway.mailbox.lanes import Again, Done
from gateway.memory.embedded import erasing as embedded
from gateway.memory.entries import Target
from gateway.memory.forgetting import forget
from gateway.model.errors import MemoryServiceError
from gateway.model.ids import sortable_id
from gateway.people.estate import owner_of
from gateway.pipeline import builtin, cabinet
from gateway.store import audit, erasing
from gateway.store.estate import holdings

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from gateway.mailbox.lanes import Lease, Outcome
    from gateway.memory.lane import Wake
    from gateway.model.ids import PeerId
    from gateway.people.estate import Owner
    from gateway.pipeline.post import Mailbox
    from gateway.pipeline.rules import Current
    from gateway.ports import Clock, Memory
    from gateway.settings.home import Home
    from gateway.store.engine import Store, Tx
    from gateway.store.erasing import Plan
    from gateway.store.estate import Holdings

log = structlog.get_logger(__name__)

#: lane of the erasures that are not done yet
ERASE = "erase"
#: seconds until a memory service is asked again that could not be reached
PAUSE = 60.0


@dataclass(frozen=True, slots=True)
class Left:
    """What is not forgotten yet, and why."""

    #: the memory service's trouble, "" where it has forgotten
    service: str = ""
    #: the files of the database hold no remains of deleted rows
    compacted: bool = True


class Erasure:
    """Erases people of one home. Works beside the running gateway, and in it."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        home: Home,
        *,
        current: Current,
        mailbox: Mailbox,
        wake: Wake,
    ) -> None:
        self._store = store
        self._clock = clock
        self._home = home
        self._current = current
        self._mailbox = mailbox
        self._wake = wake

    async def preview(self, who: str) -> Holdings:
        """Return how much there is of somebody. Raises ``NobodyError``."""
        return await self._store.read(
            lambda conn: holdings(conn, owner_of(conn, who, self._current).estate)
        )

    async def erase(self, who: str, *, by: str, grants: bool = True) -> Holdings:
        """Take a person out of the database; ``carry_on`` does the rest. ``NobodyError``."""
        return await self._store.write(
            lambda tx: self.in_transaction(
                tx, owner_of(tx.conn, who, self._current), by=by, grants=grants
            ),
            durable=True,
        )

    def in_transaction(self, tx: Tx, owner: Owner, *, by: str, grants: bool) -> Holdings:
        """Do the first step; ``grants``: what the accounts were granted goes, too."""
        estate, now = owner.estate, self._clock.now()
        counts = holdings(tx.conn, estate)
        plan, anew = erasing.erase(tx, estate, grants=grants, now=now)
        erasing.begin(tx, sortable_id("e"), plan, by=by if ":" not in by else "", now=now)
        for session in anew:
            self._wake(tx, session, everything=True)
        audit.record(
            tx,
            "person.erased",
            actor=by,
            now=now,
            turns=counts.turns,
            messages=counts.messages,
            sessions=len(counts.sessions),
            shared_sessions=len(counts.shared_sessions),
        )
        audit.forget_person(tx, estate.names)
        self._mailbox.put(tx, ERASE, ERASE, dedupe=sortable_id("e"), payload={})
        return counts

    async def carry_on(self, memory: Memory | None, *, own_service: bool) -> Left:
        """Do what is left of every erasure; ``own_service``: it is the embedded one."""
        left = Left()
        for id_, plan in await self._store.read(erasing.unfinished):
            await asyncio.to_thread(self._files, plan)
            try:
                if memory is not None:
                    await self._service(memory, plan, own=own_service)
            except MemoryServiceError as error:
                log.warning("erasure.waits", action="erase", code=error.code)
                left = Left(service=str(error))
                continue
            await self._store.write(partial(_finish, id_, plan))
            log.info("erasure.done", action="erase")
        await builtin.index(self._store)
        return Left(left.service, await self._store.compact())

    async def handle(self, lease: Lease, memory: Memory | None, *, own_service: bool) -> Outcome:
        """Carry on as the lane's handler, as often as the service needs."""
        left = await self.carry_on(memory, own_service=own_service)
        if left.service or not left.compacted:
            return Again(PAUSE, "erasure_waits")
        return Done()

    async def _service(self, memory: Memory, plan: Plan, *, own: bool) -> None:
        agents = set((await memory.agents()).values()) | {self._current.rules.agent_peer}
        others = [one for one in (*agents, *plan.observers) if one not in plan.peers]
        await forget(memory, sessions=plan.sessions, peers=plan.peers, others=others)
        if own:
            peers, sessions = list(plan.peers), list(plan.sessions)
            await self._store.write(lambda tx: embedded.forget_peers(tx, peers, sessions))

    # --- files ---------------------------------------------------------------------------

    def _files(self, plan: Plan) -> None:
        cabinet.clear(self._home.files, plan.files)
        for folder, names in self._memories(plan.peers):
            for name in names:
                path = folder / name
                for each in (path.resolve(), path):
                    each.unlink(missing_ok=True)
            for leftover in folder.glob(".*.md*") if folder.is_dir() else ():
                leftover.unlink(missing_ok=True)
        for peer in plan.peers:
            shutil.rmtree(self._home.people / peer, ignore_errors=True)
        if self._owner in plan.peers:
            self._home.console_history.unlink(missing_ok=True)

    def _memories(self, peers: Collection[PeerId]) -> list[tuple[Path, list[str]]]:
        names = [target.file for target in Target]
        return [(self._home.memories, names)] if self._owner in peers else []

    @property
    def _owner(self) -> PeerId | None:
        return builtin.file_rules(self._current).owner


def _finish(id_: str, plan: Plan, tx: Tx) -> None:
    erasing.finish(tx, id_, plan)
