"""Who decided what: the audit, with people's names where they are still known."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from gateway.ops import watchman
from gateway.store import audit
from gateway.web.identity_shapes import AuditShape, AuditView

if TYPE_CHECKING:
    from gateway.store.engine import Connection
    from gateway.web.parts import Parts

#: rows that one answer holds
MOST = 200


async def view(parts: Parts, *, action: str = "", who: str = "") -> AuditView:
    """Return the newest rows, of one action or about one person where given."""

    def look(conn: Connection) -> AuditView:
        names, state = audit.people(conn), watchman.state(conn)
        where = audit.matching(conn, who=[who] if who else None, action=action)
        return AuditView(
            rows=[_row(row, names) for row in audit.listed(conn, *where, limit=MOST)],
            count=state["rows"],
            problem=state["problem"],
        )

    return await parts.store.read(look)


def _row(row: Any, names: dict[str, str]) -> AuditShape:
    detail = audit.named(dict(row.detail), names)
    return AuditShape(
        seq=row.seq,
        at=row.at,
        actor=str(audit.named(row.actor, names)),
        action=row.action,
        subject=str(audit.named(row.subject, names)),
        detail=", ".join(f"{key}: {_told(value)}" for key, value in detail.items()),
    )


def _told(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
