"""Remembering which conclusions and cards were made by hand: no message could bring them back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.store import hand_notes
from gateway.store.hand_notes import NoteKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gateway.model.ids import PeerId, SessionId
    from gateway.ports import Clock
    from gateway.store.engine import Store, Tx


class ByHand:
    """Keeps a row for each conclusion that a tool made, and for each card that one set."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def concluded(
        self, observer: PeerId, observed: PeerId, session: SessionId, *, text: str, ref: str
    ) -> None:
        """Remember a conclusion."""

        def note(tx: Tx) -> None:
            hand_notes.add(
                tx,
                NoteKind.CONCLUSION,
                observer,
                observed,
                holder=observed,
                session=session,
                content=text,
                ref=ref,
                now=self._clock.now(),
            )

        await self._store.write(note)

    async def dropped(self, ref: str) -> None:
        """Forget a conclusion that was dropped."""
        await self._store.write(lambda tx: hand_notes.forget(tx, ref))

    async def carded(self, observer: PeerId, observed: PeerId, facts: Sequence[str]) -> None:
        """Remember what a card was set to."""
        now = self._clock.now()
        await self._store.write(
            lambda tx: hand_notes.set_facts(tx, observer, observed, facts, now=now)
        )
