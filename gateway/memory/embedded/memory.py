"""Derivation behind the requests, and how much of it there is for ``queue/status``."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import structlog

from gateway.memory.embedded import summaries
from gateway.memory.embedded.errors import NotFoundError
from gateway.model.errors import GatewayError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gateway.memory.embedded.deriver import Deriver
    from gateway.memory.embedded.summaries import Due
    from gateway.memory.embedded.values import Json, SessionRef
    from gateway.ports import Clock
    from gateway.store.engine import Store

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

    def status(self, workspace: str, session: str | None) -> Json:
        """Return the counts of a workspace, or of one of its sessions, as the API shows them."""
        refs = [
            ref
            for ref in self.running.keys() | self.done.keys()
            if ref.workspace == workspace and session in (None, ref.session)
        ]
        counts = _counts(
            sum(self.running[ref] for ref in refs), sum(self.done[ref] for ref in refs)
        )
        by_session = {
            ref.session: {
                "session_id": ref.session,
                **_counts(self.running[ref], self.done[ref]),
            }
            for ref in refs
        }
        return {**counts, "sessions": by_session or None}


def _counts(running: int, done: int) -> Json:
    return {
        "total_work_units": running + done,
        "completed_work_units": done,
        "in_progress_work_units": running,
        "pending_work_units": 0,
    }


@dataclass(frozen=True, slots=True)
class Memory:
    """What every request works with."""

    store: Store
    clock: Clock
    deriver: Deriver
    work: Work = field(default_factory=Work)

    async def summarise(self, ref: SessionRef, *, before: int, after: int) -> None:
        """Make the summaries that fell due as the session grew. Never raises ``GatewayError``."""
        try:
            found = await self.store.read(
                lambda conn: summaries.due(conn, ref, before=before, after=after)
            )
            for each in found:
                with self.work.unit(ref):
                    await self._make(ref, each)
        except (GatewayError, NotFoundError) as error:
            _log.warning(
                "a summary was not made; the next messages try again",
                action="memory_summary_failed",
                error=type(error).__name__,
            )

    async def _make(self, ref: SessionRef, wanted: Due) -> None:
        text = await self.deriver.summary(wanted.talk)
        if text:
            now = self.clock.now()
            await self.store.write(lambda tx: summaries.keep(tx, ref, wanted, text, now=now))
