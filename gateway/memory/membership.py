"""Opening a memory session at the service: its members, and who of them observes whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from gateway.model.errors import (
    MemoryAmbiguousError,
    MemoryRejectedError,
    MemoryUnavailableError,
    MemoryUnsupportedError,
)
from gateway.model.memory import Observation
from gateway.policy import observation
from gateway.policy.identity import Rung
from gateway.store import members, messages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from gateway.mailbox.lanes import Lease
    from gateway.memory.rules import CaptureRules
    from gateway.model.ids import PeerId
    from gateway.ports import Clock, Memory
    from gateway.store.sending import Row, SessionRecord

log = structlog.get_logger(__name__)

#: seconds for which the agent's place in the workspace's map is taken for granted: another
#: process that registers at the same moment may undo it
INTRODUCED = 600.0


class Membership:
    """Makes members of whoever speaks, before their first message."""

    def __init__(self, clock: Clock, memory: Memory, rules: Callable[[], CaptureRules]) -> None:
        self._clock = clock
        self._memory = memory
        self._rules = rules
        self._introduced: tuple[PeerId, float] | None = None

    async def open(self, lease: Lease, session: SessionRecord, rows: Iterable[Row]) -> None:
        """Make sure that the agent and the authors of ``rows`` are members; idempotent.

        Raises ``MemoryServiceError``, but never an ambiguous one: what may have been done here
        may be done again.
        """
        known = await lease.store.read(lambda conn: members.of(conn, session.id))
        missing = {
            peer: flags for peer, flags in self._wanted(session, rows).items() if peer not in known
        }
        if not missing:
            return
        try:
            await self.introduce()
            found = await self._make_members(session, missing)
        except MemoryAmbiguousError as error:
            raise MemoryUnavailableError(str(error), code=error.code) from None
        now = self._clock.now()
        await lease.write(lambda tx: members.note(tx, session.id, found, now=now))

    def _wanted(self, session: SessionRecord, rows: Iterable[Row]) -> dict[PeerId, Observation]:
        rules = self._rules()
        wanted = {rules.agent_peer: rules.observation.agent}
        for row in rows:
            if row.role == messages.ASSISTANT:
                wanted[row.peer] = rules.observation.agent
            else:
                wanted[row.peer] = observation.of_person(
                    rules.observation,
                    alone=session.peer is not None,
                    attributed=row.rung != Rung.UNATTRIBUTED,
                )
        return wanted

    async def _make_members(
        self, session: SessionRecord, missing: Mapping[PeerId, Observation]
    ) -> Mapping[PeerId, Observation]:
        try:
            return await self._memory.open_session(session.id, missing)
        except MemoryRejectedError as error:
            # Too many observers, say. The messages make members by themselves, with the
            # service's own flags.
            log.error("memory.not_opened", action="capture", session=session.id, error=str(error))
            return dict.fromkeys(missing, Observation())

    async def introduce(self) -> None:
        """Note the agent's peer in the workspace, unless that was done a moment ago.

        Raises ``MemoryServiceError`` where it may not have been done.
        """
        rules, now = self._rules(), self._clock.monotonic()
        if self._introduced is not None:
            peer, at = self._introduced
            if peer == rules.agent_peer and now - at < INTRODUCED:
                return
        try:
            await self._memory.register_agent(rules.agent, rules.agent_peer)
        except (MemoryRejectedError, MemoryUnsupportedError) as error:
            log.warning("memory.not_introduced", action="capture", error=str(error))
        self._introduced = (rules.agent_peer, now)
