"""Who waits to be let in and who was, as an admin reads it in a chat."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.pipeline.addresses import written
from gateway.store import pairing, people
from gateway.text import catalog

if TYPE_CHECKING:
    from datetime import datetime
    from zoneinfo import ZoneInfo

    from gateway.store.engine import Connection


def who(conn: Connection, *, now: datetime, language: str, zone: ZoneInfo) -> str:
    """Return one line for each waiting request and each grant, the oldest first."""
    lines = [
        catalog.text(
            "who.waiting",
            language,
            account=written(request.account),
            time=request.expires_at.astimezone(zone).strftime("%H:%M"),
        )
        for request in pairing.waiting(conn, None, now=now)
    ]
    for row in people.grants(conn):
        account = people.Account(row.platform, row.scope, row.user_id)
        key = "who.admin" if row.admin else "who.granted"
        told = {"account": written(account), "name": row.name or account.user_id}
        lines.append(catalog.text(key, language, **told))
    return "\n".join(f"- {line}" for line in lines) or catalog.text("who.nobody", language)
