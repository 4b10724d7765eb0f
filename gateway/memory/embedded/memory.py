"""Derivation behind the requests, and how much of it there is for ``queue/status``."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import structlog

from gateway.memory.embedded import batches, summaries
from gateway.memory.embedded.errors import NotFoundError
from gateway.model.errors import GatewayError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from contextlib import AbstractContextManager

    from gateway.memory.embedded.deriver import Deriver
    from gateway.memory.embedded.messages import Stored
    from gateway.memory.embedded.mind import Mind
    from gateway.memory.embedded.ranking import Ranker
    from gateway.memory.embedded.summaries import Due
    from gateway.memory.embedded.values import Json, SessionRef
    from gateway.ports import Clock
    from gateway.store.engine import Store, Tx

_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Work:
    """Work units of this process, by session; what was done before its start is not counted."""

    running: Counter[SessionRef] = field(default_factory=Counter)
    done: Counter[SessionRef] = field(default_factory=Counter)

    @contextmanager
    def unit(self, ref: SessionRef) -> Iterator[None]:
        """Count one unit of work while it lasts and after."""
        self.running[ref] += 1
        try:
            yield
        finally:
            self.running[ref] -= 1
            self.done[ref] += 1

    def status(
        self, workspace: str, session: str | None, waiting: Mapping[SessionRef, int]
    ) -> Json:
        """Return the counts of a workspace, or of one of its sessions, as the API shows them.

        ``waiting``: units that nobody has begun, or that were begun and count as running.
        """
        refs = [
            ref
            for ref in self.running.keys() | self.done.keys() | waiting.keys()
            if ref.workspace == workspace and session in (None, ref.session)
        ]
        by_session = {ref.session: self._of(ref, waiting.get(ref, 0)) for ref in refs}
        total = {
            name: sum(each[name] for each in by_session.values()) for name in _counts(0, 0, 0)
        }
        shown = {name: {"session_id": name, **each} for name, each in by_session.items()}
        return {**total, "sessions": shown or None}

    def _of(self, ref: SessionRef, waiting: int) -> Json:
        running = self.running[ref]
        return _counts(running, self.done[ref], max(waiting - running, 0))


def _counts(running: int, done: int, pending: int) -> Json:
    return {
        "total_work_units": running + done + pending,
        "completed_work_units": done,
        "in_progress_work_units": running,
        "pending_work_units": pending,
    }


@dataclass(frozen=True, slots=True)
class Memory:
    """What every request works with."""

    store: Store
    clock: Clock
    mind: Mind
    work: Work = field(default_factory=Work)

    @property
    def deriver(self) -> Deriver:
        """Who turns evidence into words."""
        return self.mind.deriver

    @property
    def ranker(self) -> Ranker:
        """Who finds what fits."""
        return self.mind.ranker

    def unit(self, ref: SessionRef) -> AbstractContextManager[None]:
        """Count a unit of work while it lasts and after."""
        return self.work.unit(ref)

    async def status(self, workspace: str, session: str | None) -> Json:
        """Return what is done, being done and waiting, as ``queue/status`` shows it."""
        waiting: dict[SessionRef, int] = {}
        if self.mind.thinking is not None:
            waiting = await self.store.read(lambda conn: batches.counts(conn, workspace))
        return self.work.status(workspace, session, waiting)

    def grown(self, tx: Tx, ref: SessionRef, stored: Stored) -> None:
        """Ask, within the transaction that stores messages, for what they give to think about."""
        thinking = self.mind.thinking
        if thinking is None:
            return
        thinking.heard(tx, ref.workspace, stored.heard)
        before, after = stored.last_seq - len(stored.messages), stored.last_seq
        if thinking.mind is not None and summaries.passed(
            tx.conn, ref, before=before, after=after
        ):
            thinking.summarise(tx, ref, before=before, after=after)

    async def summarise(self, ref: SessionRef, *, before: int, after: int) -> None:
        """Make the summaries that fell due, where no lane does. Never raises ``GatewayError``."""
        if self.mind.thinking is not None:
            return
        try:
            await self.make_summaries(ref, before=before, after=after)
        except GatewayError as error:
            _log.warning(
                "a summary was not made; the next messages try again",
                action="memory_summary_failed",
                error=type(error).__name__,
            )

    async def make_summaries(self, ref: SessionRef, *, before: int, after: int) -> None:
        """Make the summaries that fell due as the session grew; none of a deleted one."""
        with suppress(NotFoundError):
            found = await self.store.read(
                lambda conn: summaries.due(conn, ref, before=before, after=after)
            )
            for each in found:
                with self.unit(ref):
                    await self._make(ref, each)

    async def _make(self, ref: SessionRef, wanted: Due) -> None:
        text = await self.deriver.summary(wanted.talk)
        if text:
            now = self.clock.now()
            await self.store.write(lambda tx: summaries.keep(tx, ref, wanted, text, now=now))
