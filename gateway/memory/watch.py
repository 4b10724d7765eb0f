"""What keeps capture going beside the turns: it notices silence and lost wake-ups, and tells
how the service is.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import structlog

from gateway.memory.lane import MEMORY
from gateway.store import facts, sending, sessions

if TYPE_CHECKING:
    from collections.abc import Callable

    from gateway.memory.breaker import BreakerState
    from gateway.memory.capture import Capture
    from gateway.memory.lane import Wake
    from gateway.model.ids import SessionId
    from gateway.ports import Clock
    from gateway.store.engine import Connection, Store, Tx

log = structlog.get_logger(__name__)

#: name of the fact that says how the memory service is
SERVICE = "memory:service"
#: seconds between looks
INTERVAL = 5.0


class Watch:
    """Looks at what waits for the memory service, and tells ``status`` how the service is."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        capture: Capture,
        *,
        wake: Wake,
        state: Callable[[], BreakerState],
    ) -> None:
        self._store = store
        self._clock = clock
        self._capture = capture
        self._wake = wake
        self._state = state
        self._told = ""

    async def run(self) -> None:
        """Look until cancelled. At first every saved position is counted anew."""
        wrong = await self._store.write(sessions.repair_indexes)
        for name in wrong:
            log.warning("memory.index_repaired", action="watch", session=name)
        while True:
            await self._wake_all(await self._store.read(self._ripe))
            await self._tell()
            await self._clock.sleep(INTERVAL)

    async def drain(self) -> None:
        """Let everything that waits go; for the moment before the process stops."""
        self._capture.draining = True
        await self._wake_all(await self._store.read(self._ripe))

    def _ripe(self, conn: Connection) -> list[SessionId]:
        return [
            record.id
            for record in sending.unasked(conn, MEMORY)
            if self._capture.ripe(conn, record.id, closed=record.closed_at is not None)
        ]

    async def _wake_all(self, found: list[SessionId]) -> None:
        def wake(tx: Tx) -> None:
            for name in found:
                self._wake(tx, name)

        if found:
            await self._store.write(wake)

    async def _tell(self) -> None:
        state = self._state()
        told = json.dumps({"paused": state.pause > 0, "code": state.code})
        if told != self._told:
            now = self._clock.now()
            await self._store.write(lambda tx: facts.put(tx, SERVICE, told, now=now))
            self._told = told
