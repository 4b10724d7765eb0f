"""Who decided what, when. Rows are added, and forgotten when they are old, never changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from gateway.store.tables import audit

if TYPE_CHECKING:
    from datetime import datetime

    from gateway.store.engine import Tx


def record(
    tx: Tx, action: str, *, actor: str, subject: str = "", now: datetime, **detail: Any
) -> None:
    """Add a row, e.g. ``record(tx, "pairing.approved", actor="cli", subject="telegram:42")``."""
    tx.conn.execute(
        sa.insert(audit).values(at=now, actor=actor, action=action, subject=subject, detail=detail)
    )


def forget(tx: Tx, *, before: datetime, limit: int = 1000) -> int:
    """Delete up to ``limit`` rows older than ``before``; returns how many."""
    old = sa.select(audit.c.id).where(audit.c.at < before).limit(limit)
    return tx.conn.execute(sa.delete(audit).where(audit.c.id.in_(old))).rowcount
