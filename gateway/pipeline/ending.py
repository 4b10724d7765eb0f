"""The end of a turn: its answer's row is let go, and it is settled when its time has come."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.mailbox.lanes import Again, Done
from gateway.model.ids import TurnId
from gateway.model.outbound import PartState
from gateway.model.turn import TurnState
from gateway.pipeline.addresses import SETTLE
from gateway.store import ledger, outbox, turns

if TYPE_CHECKING:
    from gateway.mailbox.lanes import Lease, Outcome
    from gateway.memory.lane import Wake
    from gateway.pipeline.post import Mailbox
    from gateway.pipeline.rules import Current
    from gateway.ports import Clock
    from gateway.store.engine import Tx
    from gateway.store.outbox import StoredPart

#: seconds for which ``writeFrequency: turn`` keeps a turn open for the memory service
BUDGET = 5.0
_LOOK = 0.25


class Ending:
    """Handler of the ``settle`` lane, and what follows a delivery."""

    def __init__(self, clock: Clock, current: Current, mailbox: Mailbox, wake: Wake) -> None:
        self._clock = clock
        self._current = current
        self._mailbox = mailbox
        self._wake = wake

    def conclude(
        self,
        tx: Tx,
        stored: StoredPart,
        state: PartState,
        *,
        sent_message: str | None = None,
        error: str = "",
        degraded: str = "",
    ) -> None:
        """Write down that a part is delivered, unknown or given up, and what follows of it."""
        now, turn = self._clock.now(), stored.part.turn
        outbox.conclude(
            tx,
            stored.id,
            state,
            now=now,
            sent_message=sent_message,
            error=error,
            degraded=degraded,
        )
        if turn is not None:
            detail = f"part {stored.ordinal + 1}" + (f": {error}" if error else "")
            attempt = stored.attempts
            turns.mark(tx, turn, "delivered", state.value, now=now, attempt=attempt, detail=detail)
            self._part_concluded(tx, turn)

    def _part_concluded(self, tx: Tx, turn: TurnId) -> None:
        states, freed = outbox.states_of(tx.conn, turn), None
        if PartState.DELIVERED in states or PartState.UNKNOWN in states:
            freed = ledger.release(tx, turn)
        over = all(state.final for state in states)
        if over:
            freed = ledger.skip_undelivered(tx, turn) or freed
        if freed is not None:
            self._wake(tx, freed, once=f"{turn}/delivered")
        if over:
            self._settle(tx, turn)

    async def handle(self, lease: Lease) -> Outcome:
        """Settle a turn once memory has it, or when it has been kept open long enough."""
        turn = TurnId(lease.item.key)
        unsaved = await lease.store.read(lambda conn: ledger.unsettled(conn, turn))
        waited = self._clock.now() - lease.item.created_at
        if unsaved and waited.total_seconds() < BUDGET:
            return Again(_LOOK)
        return Done(lambda tx: self._advance(tx, turn))

    def _settle(self, tx: Tx, turn: TurnId) -> None:
        waits = self._current.rules.capture.frequency == "turn"
        if waits and ledger.unsettled(tx.conn, turn):
            self._mailbox.put(tx, SETTLE, turn, dedupe=turn, payload={})
        else:
            self._advance(tx, turn)

    def _advance(self, tx: Tx, turn: TurnId) -> None:
        """Settle a turn; one whose part an operator sent again is settled already."""
        found = turns.load(tx.conn, turn)
        if found is None or found.state is TurnState.SETTLED:
            return
        turns.advance(tx, turn, TurnState.SETTLED, now=self._clock.now())
