"""What was said. Text stands here once; every other table points to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlalchemy as sa

from gateway.store import sessions
from gateway.store.tables import message

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from gateway.model.ids import SessionId, TurnId
    from gateway.store.engine import Tx

USER = "user"
ASSISTANT = "assistant"
#: a slash command: never history, never memory
COMMAND = "command"
#: the new wording of a message that had been said before
EDIT = "edit"


@dataclass(frozen=True, slots=True)
class Said:
    """One stored message."""

    id: int
    role: str
    author: str
    text: str
    sent_at: datetime


def add(
    tx: Tx, said: Said, *, session: SessionId | None = None, turn: TurnId | None = None
) -> int:
    """Store a message and return its id (``said.id`` is ignored)."""
    statement = sa.insert(message).values(
        session_number=None if session is None else sessions.number(session),
        turn=turn,
        role=said.role,
        author=said.author,
        text=said.text,
        sent_at=said.sent_at,
    )
    return int(tx.conn.execute(statement.returning(message.c.id)).scalar_one())


def append_line(tx: Tx, message_id: int, line: str) -> None:
    """Add what was spoken in a message to its text."""
    text = sa.case((message.c.text == "", line), else_=message.c.text + ("\n" + line))
    tx.conn.execute(sa.update(message).where(message.c.id == message_id).values(text=text))


def belong(tx: Tx, ids: Iterable[int], *, session: SessionId, turn: TurnId) -> None:
    """Say which session and turn stored messages belong to."""
    tx.conn.execute(
        sa.update(message)
        .where(message.c.id.in_(list(ids)))
        .values(session_number=sessions.number(session), turn=turn)
    )
