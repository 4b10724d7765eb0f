"""The lane that thinks: about one peer at a time, behind everybody who waits for an answer."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import sqlalchemy as sa
import structlog

from gateway.mailbox import items
from gateway.mailbox.lanes import Again, Done, Lane, Outcome
from gateway.memory.embedded import batches, rules, tables
from gateway.memory.embedded.batches import PeerRef
from gateway.memory.embedded.costs import OverBudgetError
from gateway.memory.embedded.values import SessionRef
from gateway.model.errors import AgentError, Disposition
from gateway.model.ids import sortable_id
from gateway.policy.retry import Backoff

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection
    from contextlib import AbstractContextManager
    from typing import TypeVar

    from gateway.mailbox.items import Item
    from gateway.mailbox.lanes import Lease
    from gateway.memory.embedded.deriver import Batch, Finding
    from gateway.memory.embedded.forms import Facts
    from gateway.memory.embedded.minds import ByModel
    from gateway.memory.embedded.vectors import Vectors
    from gateway.memory.lane import Puts
    from gateway.ports import Clock
    from gateway.store.engine import Connection, Store, Tx

    T = TypeVar("T")

log = structlog.get_logger(__name__)

#: lanes: thoughts about a peer, summaries of a session, vectors
DERIVE, SUMMARISE, EMBED = "derive", "summarise", "embed"
#: seconds of silence, or characters, after which a person's new messages are thought about
QUIET, ENOUGH = 10.0, 2000
#: the same for an agent, whose words are many and tell little
QUIET_AGENT, ENOUGH_AGENT = 1800.0, 8000
#: seconds between looks whether somebody still waits for an answer of a model on this machine
PATIENCE = 2.0
#: of what the model does not do; only its own refusals count, and then the rule takes over
BACKOFF = Backoff(first=5.0, factor=3.0, ceiling=3600.0, jitter=0.2, attempts=1_000_000)
#: seconds between looks for what no item asks for: messages of an earlier version, of a command
SWEEP = 300.0
#: key of the lane of vectors
_ALL = "all"
#: failures that say something about the messages, and nothing about the model
_POISON = frozenset(
    {"model_garbled", "model_filtered", "model_cut", "model_refused", "context_too_long"}
)


class InterruptedThoughtError(Exception):
    """Somebody began to wait for an answer of the model that was thinking."""


class Thinks(Protocol):
    """What the lanes need of the service."""

    def unit(self, ref: SessionRef) -> AbstractContextManager[None]:
        """Count a unit of work while it lasts and after."""
        ...

    async def make_summaries(self, ref: SessionRef, *, before: int, after: int) -> None:
        """Make the summaries that fell due as a session grew."""
        ...


@dataclass(slots=True)
class Thinking:
    """Puts work into the lanes and does it. ``busy``: a person waits for an answer."""

    store: Store
    clock: Clock
    mailbox: Puts
    #: None: the person's own sentences are chosen by rule
    mind: ByModel | None = None
    #: only a model on this machine has to give way
    gives_way: bool = False
    busy: Callable[[Connection], bool] = field(default=lambda _conn: False)
    vectors: Vectors | None = None

    # --- asking for it -------------------------------------------------------------------

    def heard(self, tx: Tx, workspace: str, authors: Collection[str]) -> None:
        """Ask that new messages be thought about, and read by the encoder."""
        for author in authors:
            self.about(tx, PeerRef(workspace, author))
        if self.vectors is not None and self.vectors.eager:
            self.encode(tx)

    def about(self, tx: Tx, ref: PeerRef) -> None:
        """Ask that what waits about one peer be thought about."""
        self.mailbox.put(tx, DERIVE, ref.key, dedupe=f"{ref.key}/{sortable_id('d')}", payload={})

    def encode(self, tx: Tx) -> None:
        """Ask for the vectors that are missing."""
        self.mailbox.put(tx, EMBED, _ALL, dedupe=sortable_id("e"), payload={})

    def summarise(self, tx: Tx, ref: SessionRef, *, before: int, after: int) -> None:
        """Ask for the summaries that fall due as a session grows."""
        payload = {"before": before, "after": after}
        key = f"{ref.workspace}/{ref.session}"
        self.mailbox.put(tx, SUMMARISE, key, dedupe=f"{key}/{after}", payload=payload)

    async def sweep(self) -> None:
        """Look now and then for what waits and is asked for by nobody, until cancelled."""
        while True:
            waiting = await self.store.read(batches.peers)
            asked = await self.store.read(items.live_keys)
            lost = [ref for ref in waiting if (DERIVE, ref.key) not in asked]
            anew = self.vectors is not None and await self.vectors.outdated()

            def ask(tx: Tx, lost: list[PeerRef] = lost, anew: bool = anew) -> None:
                for ref in lost:
                    self.about(tx, ref)
                if anew:
                    self.encode(tx)

            if lost or anew:
                await self.store.write(ask)
            await self.clock.sleep(SWEEP)

    # --- doing it ------------------------------------------------------------------------

    def lanes(self, memory: Thinks) -> list[Lane]:
        """Return the lanes with their handlers."""

        async def summarise(lease: Lease) -> Outcome:
            return await self._summarise(lease, memory)

        async def derive(lease: Lease) -> Outcome:
            return await self._derive(lease, memory)

        return [
            Lane(DERIVE, derive, BACKOFF, concurrency=2, patient=True),
            Lane(SUMMARISE, summarise, BACKOFF, concurrency=1, patient=True),
            Lane(EMBED, self._embed, BACKOFF, concurrency=1, patient=True),
        ]

    async def _derive(self, lease: Lease, memory: Thinks) -> Outcome:
        ref = PeerRef.parse(lease.item.key)
        behind = await self.store.write(
            lambda tx: items.waiting_behind(tx, lease.item, limit=batches.MOST_MESSAGES * 10)
        )
        if (pause := await self._pause(ref, lease.item, behind)) > 0:
            return Again(pause, "memory_waits")
        await lease.write(
            lambda tx: items.absorb(tx, [each.id for each in behind], now=self.clock.now())
        )
        while waiting := await self.store.read(lambda conn: batches.following(conn, ref)):
            memo: dict[str, Facts] = {}
            for batch in waiting:
                with memory.unit(SessionRef(ref.workspace, batch.session)):
                    outcome = await self._think(lease, batch, memo)
                if outcome is not None:
                    return outcome
        return Done()

    async def _pause(self, ref: PeerRef, item: Item, behind: list[Item]) -> float:
        """Return the seconds until a batch is worth a request; a rule costs nothing."""
        if self.mind is None:
            return 0.0
        if await self._must_wait():
            return PATIENCE
        agent = await self.store.read(lambda conn: _is_agent(conn, ref))
        quiet, enough = (QUIET_AGENT, ENOUGH_AGENT) if agent else (QUIET, ENOUGH)
        if await self.store.read(lambda conn: batches.size(conn, ref)) >= enough:
            return 0.0
        newest = max(each.created_at for each in (item, *behind))
        return quiet - (self.clock.now() - newest).total_seconds()

    async def _think(self, lease: Lease, batch: Batch, memo: dict[str, Facts]) -> Outcome | None:
        """Think about one batch and keep what came of it; return why that has to wait."""
        try:
            findings, origin = await self._findings(batch, memo)
        except OverBudgetError as error:
            return Again(error.wait, "memory_budget")
        except InterruptedThoughtError:
            return Again(PATIENCE, "memory_waits")
        except AgentError as error:
            return _after(error, lease.item)
        await lease.write(lambda tx: self._keep(tx, batch, findings, origin))
        return None

    async def _findings(self, batch: Batch, memo: dict[str, Facts]) -> tuple[list[Finding], str]:
        if self.mind is None:
            return await asyncio.to_thread(rules.findings, batch), "rule"
        try:
            return await self._unless_busy(self.mind.derive(batch, memo)), "model"
        except AgentError as error:
            if error.code not in _POISON:
                raise
            log.warning("memory.derived_by_rule", action="derive", code=error.code)
            return await asyncio.to_thread(rules.findings, batch), "rule"

    def _keep(self, tx: Tx, batch: Batch, findings: list[Finding], origin: str) -> None:
        made = batches.keep(tx, batch, findings, origin=origin)
        if made and self.vectors is not None and self.vectors.eager:
            self.encode(tx)

    async def _summarise(self, lease: Lease, memory: Thinks) -> Outcome:
        ref = SessionRef(*lease.item.key.split("/", 1))
        if self.mind is not None and await self._must_wait():
            return Again(PATIENCE, "memory_waits")
        before, after = (int(lease.item.payload[name]) for name in ("before", "after"))
        try:
            await self._unless_busy(memory.make_summaries(ref, before=before, after=after))
        except OverBudgetError as error:
            return Again(error.wait, "memory_budget")
        except InterruptedThoughtError:
            return Again(PATIENCE, "memory_waits")
        except AgentError as error:
            # the next one is made from what this one would have held too
            return Done() if error.code in _POISON else _after(error, lease.item)
        return Done()

    async def _embed(self, lease: Lease) -> Outcome:
        if self.vectors is None:
            return Done()
        behind = await self.store.write(lambda tx: items.waiting_behind(tx, lease.item, limit=500))
        await lease.write(
            lambda tx: items.absorb(tx, [each.id for each in behind], now=self.clock.now())
        )
        while missing := await self.vectors.missing(batches.MOST_MESSAGES * 10):
            try:
                await self.vectors.make(missing)
            except AgentError as error:
                if error.disposition is Disposition.GIVE_UP:
                    log.error("memory.not_encoded", action="embed", error=str(error))
                    return Done()
                return _after(error, lease.item)
        return Done()

    # --- giving way ----------------------------------------------------------------------

    async def _must_wait(self) -> bool:
        return self.gives_way and await self.store.read(self.busy)

    async def _unless_busy(self, thought: Awaitable[T]) -> T:
        """Return what comes of a thought, or break it off when somebody waits for the model."""
        task = asyncio.ensure_future(thought)
        try:
            while self.gives_way and not task.done():
                timer = asyncio.ensure_future(self.clock.sleep(PATIENCE))
                await asyncio.wait({task, timer}, return_when=asyncio.FIRST_COMPLETED)
                timer.cancel()
                if not task.done() and await self._must_wait():
                    raise InterruptedThoughtError
            return await task
        finally:
            if not task.done():
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)


def _after(error: AgentError, item: Item) -> Again:
    """Try again later: a model that is away or has no credit says nothing about the messages."""
    log.warning("memory.cannot_think", action="derive", code=error.code, error=str(error))
    wait = error.retry_after or BACKOFF.delay(item.attempts, roll=0.0) or BACKOFF.ceiling
    return Again(wait, error.code, counted=True)


def _is_agent(conn: Connection, ref: PeerRef) -> bool:
    """Tell whether a peer is one of the agents that the workspace's metadata lists."""
    table = tables.workspace
    found = conn.execute(sa.select(table.c.metadata).where(table.c.id == ref.workspace)).scalar()
    agents = (found or {}).get("agentPeerMap")
    return isinstance(agents, dict) and ref.peer in agents.values()
