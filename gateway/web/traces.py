"""The way of a message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gateway.pipeline import explain
from gateway.store import turns
from gateway.web.shapes import Trace, TurnView

if TYPE_CHECKING:
    from gateway.model.ids import TurnId
    from gateway.web.parts import Parts

#: turns that one answer holds
MOST = 100


async def view(parts: Parts, *, peer: str = "", state: str = "") -> list[TurnView]:
    """Return the newest turns."""
    rows = await parts.store.read(
        lambda conn: turns.recent(conn, peer=peer, state=state, limit=MOST)
    )
    return [_turn(row) for row in rows]


def _turn(row: Any) -> TurnView:
    return TurnView(
        turn=row.id,
        peer=row.peer,
        rung=row.rung,
        state=row.state,
        attempts=row.attempt,
        platform=row.platform,
        conversation=row.conversation,
        session=row.session,
        error=row.error,
        at=row.created_at,
        seconds=max(0.0, (row.updated_at - row.created_at).total_seconds()),
    )


async def detail(parts: Parts, turn: TurnId) -> Trace:
    """Return a turn's way. Raises ``UnknownTurnError``."""
    return Trace(found=await parts.store.read(lambda conn: explain.trace(conn, turn)))
