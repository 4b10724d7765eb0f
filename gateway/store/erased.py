"""Digests of erased events: nothing can be read out of them, and a redelivery is known by them."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from gateway.store import statements
from gateway.store.erasure_tables import erased_event

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gateway.model.events import InboundEvent
    from gateway.store.engine import Tx


def digest(platform: str, account: str, place: str, message: str, revision: str) -> bytes:
    """Return the digest of an event's key."""
    text = json.dumps([platform, account, place, message, revision], ensure_ascii=False)
    return hashlib.sha256(text.encode()).digest()


def known(conn: sa.Connection, event: InboundEvent) -> bool:
    """Tell whether an event was there before and is erased."""
    wanted = digest(event.platform, event.account, event.place.id, event.message, event.revision)
    there = sa.select(erased_event.c.digest).where(erased_event.c.digest == wanted)
    return conn.execute(there).first() is not None


def keep(tx: Tx, rows: Iterable[sa.Row[Any]]) -> None:
    """Keep the digests of rows of the inbox that are about to go."""
    found = [
        {"digest": digest(row.platform, row.account, row.place, row.message, row.revision)}
        for row in rows
    ]
    if found:
        statement = statements.insert(tx.conn, erased_event)
        tx.conn.execute(statement.on_conflict_do_nothing(index_elements=["digest"]), found)
