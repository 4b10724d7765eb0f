"""Wrong codes are counted, and after some of them nobody may try any more for a while."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from gateway.store import facts

if TYPE_CHECKING:
    from gateway.ports import Clock
    from gateway.store.engine import Tx

WRONG_LIMIT = 5
LOCK_OUT = timedelta(hours=1)


class Lockout:
    """One count of wrong codes, kept as a fact."""

    def __init__(self, clock: Clock, name: str) -> None:
        self._clock = clock
        self._name = name

    def locked(self, tx: Tx) -> bool:
        """Tell whether there were too many."""
        return len(self._wrong(tx)) >= WRONG_LIMIT

    def count(self, tx: Tx) -> None:
        """Count one more."""
        now = self._clock.now()
        times = [at.isoformat() for at in (*self._wrong(tx), now)]
        facts.put(tx, self._name, json.dumps(times), now=now)

    def clear(self, tx: Tx) -> None:
        """A right one: begin anew."""
        facts.drop(tx, self._name)

    def _wrong(self, tx: Tx) -> list[datetime]:
        """Return the wrong ones that count; an hour after the last one none does."""
        stored = json.loads(facts.get(tx.conn, self._name) or "[]")
        times = [datetime.fromisoformat(at) for at in stored]
        over = bool(times) and self._clock.now() - times[-1] >= LOCK_OUT
        return [] if over else times
