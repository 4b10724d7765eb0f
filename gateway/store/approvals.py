"""Writes to the memory files that wait for their person's yes."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlalchemy as sa

from gateway.store.note_tables import memory_write

if TYPE_CHECKING:
    from datetime import datetime

    from gateway.model.ids import PeerId
    from gateway.store.engine import Tx

WAITING, APPROVED, REJECTED = "waiting", "approved", "rejected"

#: read aloud and typed on a phone: nothing that looks like something else
_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
_LENGTH = 6


@dataclass(frozen=True, slots=True)
class Write:
    """What the agent wants to write into whose file."""

    peer: PeerId
    file: str
    action: str
    content: str = ""
    old_text: str = ""


@dataclass(frozen=True, slots=True)
class Staged:
    """A write that waits under a short id."""

    id: str
    write: Write
    asked_at: datetime


def stage(tx: Tx, write: Write, *, now: datetime) -> tuple[str, bool]:
    """Let a write wait; return its id, and False where the same one waits already."""
    waiting = next((one for one in of(tx.conn, write.peer) if one.write == write), None)
    if waiting is not None:
        return waiting.id, False
    id_ = "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH))
    tx.conn.execute(
        sa.insert(memory_write).values(
            id=id_,
            peer=write.peer,
            file=write.file,
            action=write.action,
            content=write.content,
            old_text=write.old_text,
            state=WAITING,
            asked_at=now,
        )
    )
    return id_, True


def of(conn: sa.Connection, peer: PeerId | None = None) -> list[Staged]:
    """Return what waits, oldest first: one person's, or everybody's."""
    columns = (
        memory_write.c.id,
        memory_write.c.asked_at,
        *(memory_write.c[name] for name in Write.__slots__),
    )
    found = sa.select(*columns).where(memory_write.c.state == WAITING)
    if peer is not None:
        found = found.where(memory_write.c.peer == peer)
    rows = conn.execute(found.order_by(memory_write.c.asked_at, memory_write.c.id))
    return [
        Staged(row.id, Write(row.peer, row.file, row.action, row.content, row.old_text), row[1])
        for row in rows
    ]


def find(conn: sa.Connection, id_: str, peer: PeerId | None = None) -> Staged | None:
    """Return a waiting write by its id, as ``of`` would list it."""
    wanted = id_.strip().lower()
    return next((one for one in of(conn, peer) if one.id == wanted), None)


def decided(conn: sa.Connection, id_: str, peer: PeerId) -> str | None:
    """Return what was decided on a person's write; None where nothing was."""
    found = sa.select(memory_write.c.state).where(
        memory_write.c.id == id_.strip().lower(), memory_write.c.peer == peer
    )
    state = conn.execute(found).scalar()
    return state if state in (APPROVED, REJECTED) else None


def decide(tx: Tx, id_: str, state: str, *, now: datetime) -> None:
    """Close a write; its words go, they stand in the file or nowhere."""
    tx.conn.execute(
        sa.update(memory_write)
        .where(memory_write.c.id == id_, memory_write.c.state == WAITING)
        .values(state=state, content="", old_text="", decided_at=now)
    )
