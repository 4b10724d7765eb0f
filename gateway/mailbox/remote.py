"""Putting work into the mailbox from a process that is not the gateway.

The rows are the same; a ``control`` note in the same transaction makes the running gateway look
for them within a second. Without one, its next start finds them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gateway.mailbox import items
from gateway.mailbox.embedded import CONTROL
from gateway.model.ids import sortable_id

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gateway.ports import Clock
    from gateway.store.engine import Tx


class RemoteMailbox:
    """The mailbox as other commands see it."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def put(
        self, tx: Tx, lane: str, key: str, *, dedupe: str, payload: Mapping[str, Any]
    ) -> int | None:
        """Add an item and a note about it; None when it was put before."""
        now = self._clock.now()
        added = items.insert(tx, lane, key, dedupe=dedupe, payload=payload, now=now)
        self.note(tx)
        return added

    def note(self, tx: Tx) -> None:
        """Make the running gateway look at everything that waits, once this is committed."""
        now = self._clock.now()
        items.insert(tx, CONTROL, CONTROL, dedupe=sortable_id("n"), payload={}, now=now)
