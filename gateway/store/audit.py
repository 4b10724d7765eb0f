"""Who decided what, when. Rows are only ever added."""

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
