"""The memory ledger: each message's way to the memory service, exactly once.

Rows are written with the turn and sent by way of ``gateway.store.sending``. The person's own row
is due at once; an answer's row is held until a part of the answer is delivered or unknown.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import sqlalchemy as sa

from gateway.model.ids import LedgerKey, SessionId
from gateway.store import sessions, statements
from gateway.store.messages import Said
from gateway.store.tables import ledger, message

if TYPE_CHECKING:
    from datetime import datetime

    from gateway.model.ids import PeerId, TurnId
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

    session: SessionId
    peer: PeerId
    message_id: int


def key_of(turn: TurnId, message_id: int) -> LedgerKey:
    """Return the key by which the memory service knows a message of ours. Never change it."""
    return LedgerKey(f"{turn}-m{message_id}")


def of(turn: TurnId) -> sa.ColumnElement[bool]:
    """Return the condition that a row is of one turn's message."""
    said = sa.select(message.c.id).where(message.c.turn == turn)
    return ledger.c.message_id.in_(said)


def known(conn: sa.Connection, peer: PeerId, session: SessionId | None) -> bool:
    """Tell whether the service has anything that a person said (in a session, where given)."""
    rows = sa.select(ledger.c.id).where(ledger.c.peer == peer, ledger.c.state == LedgerState.SAVED)
    if session is not None:
        rows = rows.where(ledger.c.session_number == sessions.number(session))
    return conn.execute(rows.limit(1)).first() is not None


def add(tx: Tx, entry: Entry, state: LedgerState, *, skip: str = "", now: datetime) -> None:
    """Write one row at the session's next position; the same message twice is a defect and raises.

    ``skip``: the setting by which this row never goes to memory; it is settled at once.
    """
    tx.conn.execute(
        sa.insert(ledger).values(
            session_number=sessions.number(entry.session),
            seq=sessions.next_seq(tx, entry.session),
            peer=entry.peer,
            message_id=entry.message_id,
            state=LedgerState.SKIPPED if skip else state,
            reason=skip,
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
    held = tx.conn.execute(
        sa.update(ledger)
        .where(of(turn), ledger.c.state == LedgerState.HELD)
        .values(state=state, reason=reason)
        .returning(sessions.name_of(ledger.c.session_number))
    ).scalar()
    if held is None:
        return None
    session = SessionId(held)
    sessions.advance_index(tx, session)
    return session


def unsettled(conn: sa.Connection, turn: TurnId) -> bool:
    """Tell whether rows of a turn wait for the memory service."""
    return statements.count(conn, ledger, of(turn), ledger.c.state.in_(OPEN)) > 0


def history(conn: sa.Connection, session: SessionId, *, limit: int = 400) -> list[Said]:
    """Return the newest ``limit`` messages of a session's closed turns, oldest first.

    The order is that of the turns, not of arrival: what waited while an answer was written
    stands behind it. An answer that was never delivered was never said.
    """
    columns = (message.c.id, message.c.role, message.c.author, message.c.text, message.c.sent_at)
    rows = conn.execute(
        sa.select(*columns)
        .join(ledger, ledger.c.message_id == message.c.id)
        .where(
            ledger.c.session_number == sessions.number(session),
            ledger.c.reason != UNDELIVERED,
        )
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
    number = sa.select(sa.func.count(sa.distinct(ledger.c.session_number)))
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
    columns = (ledger.c.seq, message.c.role, ledger.c.peer, ledger.c.state, ledger.c.reason)
    rows = conn.execute(
        sa.select(*columns)
        .join(message, message.c.id == ledger.c.message_id)
        .where(message.c.turn == turn)
        .order_by(ledger.c.seq)
    )
    return [dict(row) for row in rows.mappings()]
