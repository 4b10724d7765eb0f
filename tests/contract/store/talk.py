"""Turns in one session of a store, for whatever looks for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway.model.ids import PeerId, PlaceId, TurnId
from gateway.model.outbound import Address
from gateway.model.turn import TurnState
from gateway.store import ledger, messages, search, turns
from gateway.store.search import Scope
from gateway.text.terms import parse
from tests.contract.store.samples import (
    BOT,
    NOW,
    SESSION,
    TELEGRAM,
    claim,
    later,
    open_session,
    turn,
)

if TYPE_CHECKING:
    from gateway.store.engine import Store, Tx

MIRA, TOBIAS = Scope(peer=PeerId("mira")), Scope(peer=PeerId("tobias"))
GROUP = "-1005550001112"


def place(*ids: str) -> Scope:
    return Scope(place=(TELEGRAM, BOT, frozenset(ids)))


@dataclass
class Talk:
    """Turns in one session, one after another."""

    store: Store
    turns: int = 0

    async def open(self) -> Talk:
        await self.store.write(open_session)
        return self

    async def say(
        self,
        *texts: str,
        answer: str = "",
        peer: str = "mira",
        where: str = "700100200",
        closed: bool = True,
    ) -> list[int]:
        """Store a turn with what was said and answered; return the messages' ids."""
        self.turns += 1
        id_ = TurnId(f"t_{self.turns:04}")
        new = turn(id_, peer=PeerId(peer), address=Address(TELEGRAM, BOT, PlaceId(where)))
        said = [(messages.USER, text) for text in texts] + [(messages.ASSISTANT, answer)]

        def write(tx: Tx) -> list[int]:
            claim(tx, new)
            ids = [_add(tx, id_, role, text, self.turns) for role, text in said if text]
            for state in (TurnState.RUNNING, TurnState.ANSWERED) if closed else ():
                turns.advance(tx, id_, state, now=NOW)
            if closed:
                search.feed(tx, id_)
            return ids

        return await self.store.write(write)

    async def find(self, text: str, scope: Scope = MIRA, limit: int = 10) -> list[str]:
        """Return the texts of the hits."""
        query = parse(text)
        found = await self.store.read(lambda c: search.find(c, query, scope, limit=limit))
        return [line.text for line in found]


def _add(tx: Tx, turn_id: TurnId, role: str, text: str, at: int) -> int:
    said = messages.Said(0, role, "Mira" if role == messages.USER else "", text, later(at))
    id_ = messages.add(tx, said, session=SESSION, turn=turn_id)
    entry = ledger.Entry(SESSION, PeerId("x"), id_)
    ledger.add(tx, entry, ledger.LedgerState.HELD, now=NOW)
    return id_
