"""The memory ledger: each message's way to the memory service, exactly once.

Rows are written with the turn and sent by way of ``gateway.store.sending``. The person's own row
is due at once; an answer's row is held until a part of the answer is delivered or unknown.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import sqlalchemy as sa

from gateway.store import sessions, statements
from gateway.store.messages import Said
from gateway.store.tables import ledger, message

if TYPE_CHECKING:
    from datetime import datetime

    from gateway.model.ids import LedgerKey, PeerId, SessionId, TurnId
    from gateway.store.engine import Tx


#: why an answer's row is skipped that no part of was delivered
UNDELIVERED = "undelivered"
#: why the row of a message without words is skipped
NO_TEXT = "no_text"


class LedgerState(StrEnum):
    """Life of a row."""

    HELD = "held"
    DUE = "due"
    #: handed to the service; until it says so, nobody knows whether it has it
    SENDING = "sending"
    SAVED = "saved"
    PARKED = "parked"
    SKIPPED = "skipped"


#: states of rows that are not settled
OPEN = (LedgerState.HELD, LedgerState.DUE, LedgerState.SENDING)


@dataclass(frozen=True, slots=True)
class Entry:
    """One message for memory, as it is written with its turn."""

    key: LedgerKey
    session: SessionId
    turn: TurnId
    peer: PeerId
    role: str
    message_id: int
    sent_at: datetime


def known(conn: sa.Connection, peer: PeerId, session: SessionId | None) -> bool:
    """Tell whether the service has anything that a person said (in a session, where given)."""
    rows = sa.select(ledger.c.id).where(ledger.c.peer == peer, ledger.c.state == LedgerState.SAVED)
    if session is not None:
        rows = rows.where(ledger.c.session == session)
    return conn.execute(rows.limit(1)).first() is not None


def add(tx: Tx, entry: Entry, state: LedgerState, *, skip: str = "", now: datetime) -> None:
    """Write one row at the session's next position; the same key twice is a defect and raises.

    ``skip``: the setting by which this row never goes to memory; it is settled at once.
    """
    tx.conn.execute(
        sa.insert(ledger).values(
            key=entry.key,
            session=entry.session,
            seq=sessions.next_seq(tx, entry.session),
            peer=entry.peer,
            role=entry.role,
            message_id=entry.message_id,
            turn=entry.turn,
            state=LedgerState.SKIPPED if skip else state,
            reason=skip,
            sent_at=entry.sent_at,
            created_at=now,
        )
    )
    sessions.advance_index(tx, entry.session)


def release(tx: Tx, turn: TurnId) -> SessionId | None:
    """An answer reached its person (or may have): its row is due.

    Returns the session whose rows may go on, None where nothing was held.
    """
    return _let_go(tx, turn, LedgerState.DUE, "")


def skip_undelivered(tx: Tx, turn: TurnId) -> SessionId | None:
    """No part of an answer was delivered: it was never said. Returns like ``release``."""
    return _let_go(tx, turn, LedgerState.SKIPPED, UNDELIVERED)


def _let_go(tx: Tx, turn: TurnId, state: LedgerState, reason: str) -> SessionId | None:
    session: SessionId | None = tx.conn.execute(
        sa.update(ledger)
        .where(ledger.c.turn == turn, ledger.c.state == LedgerState.HELD)
        .values(state=state, reason=reason)
        .returning(ledger.c.session)
    ).scalar()
    if session is not None:
        sessions.advance_index(tx, session)
    return session


def unsettled(conn: sa.Connection, turn: TurnId) -> bool:
    """Tell whether rows of a turn wait for the memory service."""
    return statements.count(conn, ledger, ledger.c.turn == turn, ledger.c.state.in_(OPEN)) > 0


def history(conn: sa.Connection, session: SessionId, *, limit: int = 400) -> list[Said]:
    """Return the newest ``limit`` messages of a session's closed turns, oldest first.

    The order is that of the turns, not of arrival: what waited while an answer was written
    stands behind it. An answer that was never delivered was never said.
    """
    columns = (message.c.id, message.c.role, message.c.author, message.c.text, message.c.sent_at)
    rows = conn.execute(
        sa.select(*columns)
        .join(ledger, ledger.c.message_id == message.c.id)
        .where(ledger.c.session == session, ledger.c.reason != UNDELIVERED)
        .order_by(ledger.c.seq.desc())
        .limit(limit)
    ).all()
    return [Said(*row) for row in reversed(rows)]


def counts(conn: sa.Connection, *, peer: PeerId | None = None) -> dict[str, int]:
    """Return how many rows are in each state: of all, or of what one peer said."""
    if peer is None:
        return statements.count_by(conn, ledger.c.state)
    return statements.count_by(conn, ledger.c.state, ledger.c.peer == peer)


def sessions_of(conn: sa.Connection, peer: PeerId) -> int:
    """Return in how many sessions a peer said something."""
    number = sa.select(sa.func.count(sa.distinct(ledger.c.session)))
    return int(conn.execute(number.where(ledger.c.peer == peer)).scalar_one())


def said_by(conn: sa.Connection, peer: PeerId, *, limit: int) -> list[Said]:
    """Return the newest messages of a peer, the newest first."""
    columns = (message.c.id, message.c.role, message.c.author, message.c.text, message.c.sent_at)
    rows = conn.execute(
        sa.select(*columns)
        .join(ledger, ledger.c.message_id == message.c.id)
        .where(ledger.c.peer == peer)
        .order_by(ledger.c.id.desc())
        .limit(limit)
    )
    return [Said(*row) for row in rows]


def of_turn(conn: sa.Connection, turn: TurnId) -> list[dict[str, str | int]]:
    """Return a turn's rows for the trace, without their text."""
    columns = (ledger.c.seq, ledger.c.role, ledger.c.peer, ledger.c.state, ledger.c.reason)
    rows = conn.execute(sa.select(*columns).where(ledger.c.turn == turn).order_by(ledger.c.seq))
    return [dict(row) for row in rows.mappings()]
