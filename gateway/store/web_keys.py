"""What opens the operator's page: one-time links, sessions, tokens. Stored as hashes only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlalchemy as sa

from gateway.store.columns import metadata, text, time

if TYPE_CHECKING:
    from datetime import datetime

    from gateway.store.engine import Tx

LINK, SESSION, TOKEN = "link", "session", "token"

web_key = sa.Table(
    "web_key",
    metadata,
    sa.Column("hash", sa.Text, primary_key=True),
    text("kind"),  # link | session | token
    text("role"),  # viewer | operator
    time("created_at"),
    time("used_at"),
    time("expires_at"),
    sa.Index(None, "expires_at"),
)


@dataclass(frozen=True, slots=True)
class Key:
    """One key, by the hash of what its holder shows."""

    hash: str
    kind: str
    role: str
    created_at: datetime
    used_at: datetime
    expires_at: datetime


def add(tx: Tx, key: Key) -> None:
    """Store a new key; those that have expired go."""
    tx.conn.execute(sa.delete(web_key).where(web_key.c.expires_at <= key.created_at))
    values = {name: getattr(key, name) for name in Key.__slots__}
    tx.conn.execute(sa.insert(web_key).values(**values))


def find(conn: sa.Connection, hash_: str, kind: str, *, now: datetime) -> Key | None:
    """Return a key that still holds, or None."""
    row = conn.execute(
        sa.select(*(web_key.c[name] for name in Key.__slots__)).where(
            web_key.c.hash == hash_, web_key.c.kind == kind, web_key.c.expires_at > now
        )
    ).first()
    return None if row is None else Key(*row)


def take(tx: Tx, hash_: str, kind: str, *, now: datetime) -> Key | None:
    """Return a key and delete it: of two who come with it, one is let in."""
    found = find(tx.conn, hash_, kind, now=now)
    gone = tx.conn.execute(sa.delete(web_key).where(web_key.c.hash == hash_)).rowcount
    return found if gone else None


def extend(tx: Tx, hash_: str, *, until: datetime, now: datetime) -> None:
    """Note that a key was used, and until when it holds."""
    tx.conn.execute(
        sa.update(web_key).where(web_key.c.hash == hash_).values(used_at=now, expires_at=until)
    )


def drop_all(tx: Tx) -> int:
    """Delete every key; returns how many there were."""
    return tx.conn.execute(sa.delete(web_key)).rowcount
