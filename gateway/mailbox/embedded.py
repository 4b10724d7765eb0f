"""The engine of one process: wake-ups in memory over durable rows.

The rows are the truth; a wake-up only says "look now". On start every key with live rows is
woken, so a lost wake-up costs nothing but time.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

import structlog

from gateway.mailbox import items
from gateway.mailbox.drain import Drain
from gateway.mailbox.lanes import Lane  # noqa: TC001 - kept beside Drain, which needs it too
from gateway.model.errors import GatewayError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime
    from typing import Any

    from gateway.ports import Clock
    from gateway.store.engine import Store, Tx

log = structlog.get_logger(__name__)

#: lane of the notes that other commands leave for the running gateway
CONTROL = "control"
#: seconds between looks for such notes
CONTROL_INTERVAL = 1.0
#: seconds until a key is looked at again after its drain broke
REPAIR_PAUSE = 5.0

Slot = tuple[str, str]


class EmbeddedEngine:
    """Runs at most one drain for each (lane, key), woken by commits and by time."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._drain = Drain(store, clock, may_claim=lambda: not self._stopping)
        self._lanes: dict[str, Lane] = {}
        self._room: dict[str, asyncio.Semaphore] = {}
        self._active: dict[Slot, asyncio.Task[None]] = {}
        self._again: set[Slot] = set()
        #: held by the one suspect that runs
        self._alone = asyncio.Lock()
        self._timers: dict[Slot, asyncio.Task[None]] = {}
        self._watch: asyncio.Task[None] | None = None
        self._stopping = False
        self._closed = False

    def put(
        self, tx: Tx, lane: str, key: str, *, dedupe: str, payload: Mapping[str, Any]
    ) -> int | None:
        """Add an item in the caller's transaction and wake its key once that is committed.

        Returns None when (lane, dedupe) was put before.
        """
        added = items.insert(tx, lane, key, dedupe=dedupe, payload=payload, now=self._clock.now())
        self.kick(tx, lane, key)
        return added

    def kick(self, tx: Tx, lane: str, key: str) -> None:
        """Wake (lane, key) once the caller's transaction is committed."""
        tx.on_commit(lambda: self.wake(lane, key))

    def wake(self, lane: str, key: str) -> None:
        """Look at (lane, key) soon. Lanes without a handler here are left alone."""
        slot = (lane, key)
        known = self._lanes.get(lane)
        if known is None or self._closed or (self._stopping and not known.finishes):
            return
        if slot in self._active:
            self._again.add(slot)
            return
        self._active[slot] = asyncio.create_task(self._run(slot), name=f"drain {lane}")

    async def start(self, lanes: Iterable[Lane]) -> None:
        """Take up the lanes' work, what an earlier process left included."""
        self._lanes = {lane.name: lane for lane in lanes}
        self._room = {n: asyncio.Semaphore(x.concurrency) for n, x in self._lanes.items()}
        await self.rescan()
        self._watch = asyncio.create_task(self._watch_control(), name="control")

    async def rescan(self) -> None:
        """Wake every key that has live rows; among suspects the least suspicious come first."""
        for lane, key in await self._store.read(items.live_keys_by_crashes):
            self.wake(lane, key)

    async def idle(self) -> None:
        """Return when no drain is running (work that waits for its time does not count)."""
        while self._active:
            await asyncio.wait(self._active.values())

    async def stop(self, grace: float) -> None:
        """Begin nothing more, give what runs ``grace`` seconds, then cancel it.

        Lanes that finish still begin what comes of it, within the grace. What is cancelled is
        put back and found by the next start.
        """
        self._stopping = True
        waiting = [task for task in (*self._timers.values(), self._watch) if task is not None]
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        with suppress(TimeoutError):
            async with asyncio.timeout(grace):
                await self.idle()
        self._closed = True
        late = list(self._active.values())
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)

    async def _run(self, slot: Slot) -> None:
        lane = self._lanes[slot[0]]
        try:
            while isinstance(due := await self._work_off(lane, slot), items.Suspect):
                # waits outside the room: others need not wait for it
                async with self._alone, self._room[lane.name]:
                    await self._drain.run(lane, slot[1], alone=True)
            if due is not None:
                self._arm(slot, (due - self._clock.now()).total_seconds())
        except GatewayError as error:
            log.error("mailbox.drain_broke", action=lane.name, error=str(error))
            self._arm(slot, REPAIR_PAUSE)
        finally:
            del self._active[slot]

    async def _work_off(self, lane: Lane, slot: Slot) -> datetime | items.Suspect | None:
        async with self._room[lane.name]:
            while True:
                self._again.discard(slot)
                due = await self._drain.run(lane, slot[1])
                if slot not in self._again:
                    return due

    def _arm(self, slot: Slot, seconds: float) -> None:
        if self._stopping:
            return
        earlier = self._timers.pop(slot, None)
        if earlier is not None:
            earlier.cancel()
        self._timers[slot] = asyncio.create_task(self._later(slot, seconds), name="timer")

    async def _later(self, slot: Slot, seconds: float) -> None:
        await self._clock.sleep(max(seconds, 0.0))
        self._timers.pop(slot, None)
        self.wake(*slot)

    async def _watch_control(self) -> None:
        while True:
            await self._clock.sleep(CONTROL_INTERVAL)
            try:
                keys = await self._store.read(items.live_keys)
            except GatewayError as error:
                log.error("store.unreadable", action="control", error=str(error))
                continue
            if any(lane == CONTROL for lane, _ in keys):
                for slot in keys:
                    self.wake(*slot)


__all__ = ["CONTROL", "EmbeddedEngine"]
