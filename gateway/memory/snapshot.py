"""What the prompt holds of the memory files: as they were when the session began.

Writes reach the disk at once and the prompt at the next session, so that its bytes stay the
same for the provider's prefix cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from gateway.memory.entries import Target, block
from gateway.model.errors import ToolError
from gateway.store import snapshots
from gateway.store.recall import RecallKey

if TYPE_CHECKING:
    from gateway.memory.files import MemoryFiles
    from gateway.memory.recall import Writer
    from gateway.model.ids import PeerId
    from gateway.ports import Asker, Clock
    from gateway.store.engine import Store

log = structlog.get_logger(__name__)


class Snapshots:
    """Freezes the files at a person's first turn in a session."""

    def __init__(self, files: MemoryFiles, store: Store, clock: Clock) -> None:
        self._files = files
        self._store = store
        self._clock = clock

    async def for_turn(self, write: Writer, asker: Asker | None) -> str:
        """Return the frozen block, "" where nobody is known or others could hear of it."""
        if asker is None or asker.audience.limited:
            return ""
        key = RecallKey(asker.session, asker.peer, asker.audience)
        frozen = await self._store.read(lambda conn: snapshots.load(conn, key))
        if frozen is not None:
            return frozen
        shown, now = await self._show(asker.peer), self._clock.now()
        return await write(lambda tx: snapshots.keep(tx, key, shown, now=now))

    async def _show(self, peer: PeerId) -> str:
        targets = [target for target in Target if target in self._files.rules.enabled]
        blocks = [await self._block(peer, target) for target in targets]
        return "\n\n".join(each for each in blocks if each)

    async def _block(self, peer: PeerId, target: Target) -> str:
        try:
            entries = await self._files.read(peer, target)
        except ToolError as error:  # the turn is answered without it
            log.warning("memory.file", action="snapshot", peer=peer, error=str(error))
            return ""
        return block(target, entries, self._files.rules.limits[target])
