"""What was said longer ago than it is kept: the words go, and what was made of them here.

The rows stay: who spoke, when, and that it went to memory. Words that memory still waits for are
never dropped, and neither are those of a turn that is not over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from gateway.model.outbound import PartState
from gateway.store import search
from gateway.store.ledger import OPEN, LedgerState
from gateway.store.settled import FINAL
from gateway.store.tables import inbox, ledger, message, outbox, turn

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from gateway.store.engine import Tx

#: parts that are tried no more and hold their words still
_GIVEN_UP = (PartState.FAILED, PartState.UNKNOWN)


def forget_texts(tx: Tx, *, before: datetime, limit: int) -> int:
    """Drop the words of up to ``limit`` messages sent before ``before``; returns how many."""
    awaited = sa.exists().where(
        ledger.c.message_id == message.c.id,
        ledger.c.state.in_((*OPEN, LedgerState.PARKED)),
    )
    over = sa.or_(message.c.turn.is_(None), turn.c.state.in_(FINAL))
    old = (
        sa.select(message.c.id, message.c.turn)
        .outerjoin(turn, turn.c.id == message.c.turn)
        .where(message.c.sent_at < before, message.c.text != "", over, ~awaited)
        .order_by(message.c.id)
        .limit(limit)
    )
    rows = tx.conn.execute(old).all()
    ids = [row.id for row in rows]
    if ids:
        search.forget(tx, ids)
        _forget_copies(tx, ids, [row.turn for row in rows if row.turn is not None])
        tx.conn.execute(sa.update(message).where(message.c.id.in_(ids)).values(text=""))
    return len(ids)


def _forget_copies(tx: Tx, ids: Sequence[int], turns: Sequence[str]) -> None:
    """Drop quotations that came along, raw payloads, and parts that never arrived."""
    came = {"event": sa.null(), "raw": None}
    tx.conn.execute(sa.update(inbox).where(inbox.c.message_id.in_(ids)).values(came))
    tx.conn.execute(
        sa.update(outbox)
        .where(outbox.c.turn.in_(turns), outbox.c.state.in_(_GIVEN_UP))
        .values(content=sa.null())
    )
