"""Draining one (lane, key): claim, handle, and in one transaction finish and claim the next.

This is the same for both engines: order, retries, fencing and idempotency are rows.
"""

from __future__ import annotations

import asyncio
import random
from datetime import timedelta
from typing import TYPE_CHECKING

import structlog

from gateway.mailbox import items
from gateway.mailbox.lanes import Again, Dead, Done, Lane, Lease, Outcome
from gateway.model.errors import Disposition, GatewayError, StaleLeaseError, StoreBusyError

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from gateway.ports import Clock
    from gateway.store.engine import Store, Tx

log = structlog.get_logger(__name__)

#: seconds between tries to write down an outcome while the database is locked by others
BUSY_PAUSE = 1.0


class Drain:
    """Runs the handlers. ``may_claim`` turns False when the process is about to stop."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        *,
        may_claim: Callable[[], bool] = lambda: True,
        roll: Callable[[], float] = random.random,
    ) -> None:
        self._store = store
        self._clock = clock
        self._may_claim = may_claim
        self._roll = roll

    async def run(self, lane: Lane, key: str) -> datetime | None:
        """Work until nothing of this key may run; return when its head may, if it waits."""
        held = await self._persist(lambda tx: self._claim(tx, lane.name, key))
        while isinstance(held, items.Item):
            held = await self._work(lane, held)
        return held.run_at if held is not None else None

    async def _work(self, lane: Lane, item: items.Item) -> items.Item | items.NotYet | None:
        try:
            outcome = await self._handle(lane, item)
            return await self._persist(lambda tx: self._conclude(tx, lane, item, outcome))
        except StaleLeaseError:
            log.warning("mailbox.taken_over", action="drain", lane=item.lane, item=item.id)
            return None
        except asyncio.CancelledError:
            await asyncio.shield(self._release(item))
            raise

    async def _handle(self, lane: Lane, item: items.Item) -> Outcome:
        if item.attempts > lane.backoff.attempts:
            return Dead(f"given up after {item.attempts - 1} tries")
        try:
            return await lane.handle(Lease(item, self._store))
        except StaleLeaseError:
            raise
        except GatewayError as error:
            log.warning(
                "mailbox.failed", action=lane.name, item=item.id, code=error.code, error=str(error)
            )
            return self._after(lane, item, error)
        except Exception as error:
            # A defect of ours must cost one item its turn, never the lane its worker.
            log.exception("mailbox.defect", action=lane.name, item=item.id)
            return self._after(lane, item, GatewayError(type(error).__name__, code="internal"))

    def _after(self, lane: Lane, item: items.Item, error: GatewayError) -> Outcome:
        if error.disposition is Disposition.GIVE_UP and error.code != "internal":
            return Dead(error.code)
        delay = lane.backoff.delay(item.attempts, retry_after=error.retry_after, roll=self._roll())
        if delay is None:
            return Dead(error.code)
        return Again(delay, error.code, counted=error.retry_after is None)

    # --- transactions --------------------------------------------------------------------

    def _claim(self, tx: Tx, lane: str, key: str) -> items.Item | items.NotYet | None:
        if not self._may_claim():
            return None
        return items.claim(tx, lane, key, now=self._clock.now())

    def _conclude(
        self, tx: Tx, lane: Lane, item: items.Item, outcome: Outcome
    ) -> items.Item | items.NotYet | None:
        now = self._clock.now()
        match outcome:
            case Done(effects):
                items.finish(tx, item, now=now)
                if effects is not None:
                    effects(tx)
            case Again(delay, error, counted, effects):
                due = now + timedelta(seconds=delay)
                items.put_back(tx, item, run_at=due, error=error, counted=counted)
                if effects is not None:
                    effects(tx)
            case Dead(error):
                items.bury(tx, item, error=error, now=now)
                if lane.on_dead is not None:
                    lane.on_dead(tx, item, error)
        return self._claim(tx, item.lane, item.key)

    async def _persist(
        self, fn: Callable[[Tx], items.Item | items.NotYet | None]
    ) -> items.Item | items.NotYet | None:
        while True:
            try:
                return await self._store.write(fn)
            except StoreBusyError as error:
                log.error("store.busy", action="drain", error=str(error))
                await self._clock.sleep(BUSY_PAUSE)

    async def _release(self, item: items.Item) -> None:
        """Give a held item back as if it had not been claimed: the next start goes on with it."""
        now = self._clock.now()
        try:
            await self._store.write(lambda tx: items.put_back(tx, item, run_at=now, counted=False))
        except GatewayError as error:
            log.warning("mailbox.not_released", action="drain", item=item.id, error=str(error))
