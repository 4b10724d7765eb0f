"""Draining one (lane, key): claim, handle, and in one transaction finish and claim the next.

This is the same for both engines: order, retries, fencing and idempotency are rows.
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, TypeVar

import structlog

from gateway.mailbox import items
from gateway.mailbox.lanes import Again, Dead, Done, Lane, Lease, Outcome
from gateway.model.errors import (
    Disposition,
    GatewayError,
    StaleLeaseError,
    StoreBusyError,
    StoreError,
)
from gateway.policy.crashes import Way, way

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import datetime

    from gateway.ports import Clock
    from gateway.store.engine import Store, Tx

log = structlog.get_logger(__name__)

T = TypeVar("T")
Held = items.Item | items.NotYet | items.Suspect | None

#: seconds between tries to write down an outcome while the database is locked by others
BUSY_PAUSE = 1.0


class Drain:
    """Runs the handlers. ``may_claim`` turns False when the process is about to stop; then only
    lanes that finish go on.
    """

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

    async def run(
        self, lane: Lane, key: str, *, alone: bool = False
    ) -> datetime | items.Suspect | None:
        """Work until nothing of this key may run; return when its head may, if it waits.

        A suspect is returned unclaimed: run it ``alone``, which ends behind it. Raises
        ``StoreError`` when the database is out of order: look at the key again later.
        Cancelling gives the held item back as if it had not been claimed.
        """
        held = await self._persist(lambda tx: self._claim(tx, lane, key, alone=alone))
        while isinstance(held, items.Item):
            held = await self._work(lane, held)
        return held.run_at if isinstance(held, items.NotYet) else held

    async def _work(self, lane: Lane, item: items.Item) -> Held:
        try:
            outcome = await self._handle(lane, item, self._outcome(lane, item))
            if isinstance(outcome, GatewayError):
                outcome = self._after(lane, item, outcome)
            return await self._settle(lane, item, outcome)
        except StaleLeaseError:
            log.warning("mailbox.taken_over", action="drain", lane=item.lane, item=item.id)
            return None
        except asyncio.CancelledError:
            await asyncio.shield(self._release(item))
            raise

    async def _outcome(self, lane: Lane, item: items.Item) -> Outcome:
        if _way(lane, item.crashes) is Way.NOT_AGAIN:
            log.error("mailbox.crashes", action=lane.name, item=item.id, crashes=item.crashes)
            return Dead(f"given up after {item.crashes} crashes")
        if item.attempts > lane.backoff.attempts:
            return Dead(f"given up after {item.attempts - 1} tries")
        return await lane.handle(Lease(item, self._store))

    async def _settle(self, lane: Lane, item: items.Item, outcome: Outcome) -> Held:
        """Commit an outcome; where its own effects are broken, that the item failed."""
        held = await self._handle(lane, item, self._conclude(lane, item, outcome))
        if isinstance(held, GatewayError):
            outcome = self._after(lane, item, held)
            held = await self._handle(lane, item, self._conclude(lane, item, outcome))
        if isinstance(held, GatewayError):
            silent = replace(lane, on_dead=None)
            held = await self._conclude(silent, item, outcome)
        return held

    async def _handle(self, lane: Lane, item: items.Item, work: Awaitable[T]) -> T | GatewayError:
        """Return what ``work`` returns, or the error by which it failed."""
        try:
            return await work
        except StaleLeaseError:
            raise
        except GatewayError as error:
            log.warning(
                "mailbox.failed", action=lane.name, item=item.id, code=error.code, error=str(error)
            )
            return error
        except (Exception, asyncio.CancelledError) as error:
            if isinstance(error, asyncio.CancelledError) and _being_cancelled():
                raise
            # A defect of ours must cost one item its turn, never the lane its worker; so must a
            # cancellation inside the handler that it let escape.
            log.exception("mailbox.defect", action=lane.name, item=item.id)
            return GatewayError(
                type(error).__name__, code="internal", disposition=Disposition.RETRY
            )

    def _after(self, lane: Lane, item: items.Item, error: GatewayError) -> Outcome:
        # A database out of order says nothing about the item, so trying again may help.
        if error.disposition is Disposition.GIVE_UP and not isinstance(error, StoreError):
            return Dead(error.code)
        wait = BUSY_PAUSE if isinstance(error, StoreBusyError) else error.retry_after
        delay = lane.backoff.delay(item.attempts, retry_after=wait, roll=self._roll())
        if delay is None:
            return Dead(error.code)
        return Again(delay, error.code, counted=wait is None)

    # --- transactions --------------------------------------------------------------------

    def _claim(self, tx: Tx, lane: Lane, key: str, *, alone: bool = False) -> Held:
        if not (lane.finishes or self._may_claim()):
            return None

        def accept(crashes: int) -> bool:
            return alone or _way(lane, crashes) is not Way.ALONE

        return items.claim(tx, lane.name, key, now=self._clock.now(), accept=accept)

    async def _conclude(self, lane: Lane, item: items.Item, outcome: Outcome) -> Held:
        def conclude(tx: Tx) -> Held:
            self._write_down(tx, lane, item, outcome)
            if _way(lane, item.crashes) is Way.ALONE:
                return None  # what follows need not run alone
            return self._claim(tx, lane, item.key)

        return await self._persist(conclude)

    def _write_down(self, tx: Tx, lane: Lane, item: items.Item, outcome: Outcome) -> None:
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

    async def _persist(self, fn: Callable[[Tx], Held]) -> Held:
        """Commit ``fn``, waiting while others hold the lock; nothing it claims is ever lost."""
        while True:
            write = asyncio.ensure_future(self._store.write(fn))
            try:
                return await asyncio.shield(write)
            except StoreBusyError as error:
                log.error("store.busy", action="drain", error=str(error))
            except asyncio.CancelledError:
                await asyncio.shield(self._give_back(write))
                raise
            await self._clock.sleep(BUSY_PAUSE)

    async def _give_back(self, write: asyncio.Future[Held]) -> None:
        """Release what a transaction claimed whose caller is gone."""
        await asyncio.wait([write])
        if write.exception() is None and isinstance(held := write.result(), items.Item):
            await self._release(held)

    async def _release(self, item: items.Item) -> None:
        """Give a held item back as if it had not been claimed: the next start goes on with it."""
        now = self._clock.now()
        try:
            await self._store.write(lambda tx: items.put_back(tx, item, run_at=now, counted=False))
        except StaleLeaseError:
            return  # its outcome was committed after all
        except GatewayError as error:
            log.warning("mailbox.not_released", action="drain", item=item.id, error=str(error))


def _way(lane: Lane, crashes: int) -> Way:
    return way(crashes, patient=lane.patient)


def _being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
