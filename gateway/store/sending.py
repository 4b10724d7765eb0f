"""The ledger as its writer sees it: a session's open rows in order, and what becomes of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from gateway.store import sessions, statements
from gateway.store.ledger import OPEN, LedgerState, key_of
from gateway.store.tables import conversation, item, ledger, message, session, turn

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime

    from gateway.model.ids import ConversationKey, LedgerKey, PeerId, SessionId, TurnId
    from gateway.store.engine import Tx


@dataclass(frozen=True, slots=True)
class Row:
    """One open row with its text."""

    id: int
    seq: int
    turn: TurnId
    message_id: int
    peer: PeerId
    role: str
    #: the rung that named the peer
    rung: str
    state: LedgerState
    attempts: int
    look_at: datetime | None
    part_limit: int | None
    text: str
    sent_at: datetime
    created_at: datetime

    @property
    def key(self) -> LedgerKey:
        """What the service knows the message by."""
        return key_of(self.turn, self.message_id)


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """A memory session as its writer needs it."""

    id: SessionId
    conversation: ConversationKey
    ordinal: int
    #: None where several people speak
    peer: PeerId | None
    closed_at: datetime | None
    replaced_by: SessionId | None


_COLUMNS = (
    ledger.c.id,
    ledger.c.seq,
    message.c.turn,
    ledger.c.message_id,
    ledger.c.peer,
    message.c.role,
    sa.func.coalesce(turn.c.rung, ""),
    ledger.c.state,
    ledger.c.attempts,
    ledger.c.look_at,
    ledger.c.part_limit,
    message.c.text,
    message.c.sent_at,
    ledger.c.created_at,
)


def record(conn: sa.Connection, name: SessionId) -> SessionRecord | None:
    """Return a session, None for a name that is none of ours."""
    row = conn.execute(_sessions().where(session.c.id == name)).first()
    return None if row is None else SessionRecord(*row)


def _sessions() -> sa.Select[Any]:
    return sa.select(
        session.c.id,
        session.c.conversation,
        session.c.ordinal,
        session.c.peer,
        session.c.closed_at,
        session.c.replaced_by,
    )


def open_rows(conn: sa.Connection, name: SessionId, *, limit: int) -> list[Row]:
    """Return a session's first open rows in order, held ones included."""
    rows = conn.execute(
        sa.select(*_COLUMNS)
        .join(message, message.c.id == ledger.c.message_id)
        .outerjoin(turn, turn.c.id == message.c.turn)
        .where(_in(name), ledger.c.state.in_(OPEN))
        .order_by(ledger.c.seq)
        .limit(limit)
    )
    return [replace(Row(*row), state=LedgerState(row.state)) for row in rows]


def turns_waiting(conn: sa.Connection, name: SessionId) -> tuple[int, datetime | None]:
    """Return how many turns are wholly due before any held row, and when the last row came.

    The time is None where nothing may go.
    """
    held = (
        sa.select(message.c.turn, ledger.c.seq)
        .join(message, message.c.id == ledger.c.message_id)
        .where(_in(name), ledger.c.state == LedgerState.HELD)
        .order_by(ledger.c.seq)
        .limit(1)
    )
    first = conn.execute(held).first()
    here = [_in(name), ledger.c.state.in_((LedgerState.DUE, LedgerState.SENDING))]
    whole = [*here]
    if first is not None:
        here.append(ledger.c.seq < first.seq)
        whole = [*here, message.c.turn != first.turn]
    last = sa.func.max(ledger.c.created_at, type_=ledger.c.created_at.type)
    newest: datetime | None = conn.execute(sa.select(last).where(*here)).scalar()
    turns = sa.select(sa.func.count(message.c.turn.distinct()))
    turns = turns.join(ledger, ledger.c.message_id == message.c.id).where(*whole)
    return conn.execute(turns).scalar_one(), newest


def overtaken(conn: sa.Connection, name: SessionId, seq: int) -> bool:
    """Tell whether the service has a later row of the session than ``seq``."""
    later = (
        _in(name),
        ledger.c.seq > seq,
        ledger.c.state == LedgerState.SAVED,
    )
    return conn.execute(sa.select(ledger.c.id).where(*later).limit(1)).first() is not None


def begin(tx: Tx, rows: Collection[Row], *, part_limit: int, look_at: datetime) -> tuple[Row, ...]:
    """Note that rows are about to be handed to the service, and return them as noted.

    Commit this before handing them over. The limit of the first time stays.
    """
    tx.conn.execute(
        sa.update(ledger)
        .where(ledger.c.id.in_([row.id for row in rows]))
        .values(
            state=LedgerState.SENDING,
            look_at=look_at,
            part_limit=sa.func.coalesce(ledger.c.part_limit, part_limit),
        )
    )
    return tuple(
        replace(
            row,
            state=LedgerState.SENDING,
            look_at=look_at,
            part_limit=row.part_limit or part_limit,
        )
        for row in rows
    )


def look_later(tx: Tx, name: SessionId, *, look_at: datetime) -> None:
    """Nobody knows what became of a session's rows in flight; do not ask before ``look_at``."""
    tx.conn.execute(sa.update(ledger).where(*_in_flight(name)).values(look_at=look_at))


def take_back(tx: Tx, name: SessionId, *, in_vain: bool) -> None:
    """The service does not have a session's rows in flight: they are due again."""
    tx.conn.execute(
        sa.update(ledger)
        .where(*_in_flight(name))
        .values(
            state=LedgerState.DUE,
            look_at=None,
            attempts=ledger.c.attempts + int(in_vain),
        )
    )


def _in(name: SessionId) -> sa.ColumnElement[bool]:
    return ledger.c.session_number == sessions.number(name)


def _in_flight(name: SessionId) -> tuple[sa.ColumnElement[bool], ...]:
    return _in(name), ledger.c.state == LedgerState.SENDING


def settle(
    tx: Tx, name: SessionId, rows: Collection[Row], state: LedgerState, *, reason: str = ""
) -> None:
    """Say what became of rows for good, and how far the session is settled by that."""
    tx.conn.execute(
        sa.update(ledger)
        .where(ledger.c.id.in_([row.id for row in rows]))
        .values(state=state, reason=reason, look_at=None)
    )
    sessions.advance_index(tx, name)


def unasked(conn: sa.Connection, lane: str) -> list[SessionRecord]:
    """Return each session with rows that may go and without an item in ``lane``.

    They wait for silence or for the end of their session, or their wake-up was lost.
    """
    asked = sa.select(item.c.key).where(
        item.c.lane == lane, item.c.state.in_(("ready", "running"))
    )
    waiting = sa.select(ledger.c.session_number).where(
        ledger.c.state.in_((LedgerState.DUE, LedgerState.SENDING))
    )
    idle = session.c.number.in_(waiting), session.c.id.not_in(asked)
    rows = conn.execute(_sessions().where(*idle).order_by(session.c.id))
    return [SessionRecord(*row) for row in rows]


def sessions_with_rows(conn: sa.Connection) -> list[SessionId]:
    """Return each session that has rows which may go."""
    open_states = (LedgerState.DUE, LedgerState.SENDING)
    rows = conn.execute(
        sa.select(session.c.id)
        .join(ledger, ledger.c.session_number == session.c.number)
        .where(ledger.c.state.in_(open_states))
        .distinct()
    )
    return list(rows.scalars())


def supersede(tx: Tx, gone: SessionRecord, name: SessionId, *, now: datetime) -> None:
    """Open ``name`` in the place of a session that the service lost.

    A conversation that is in the lost session goes on in the new one.
    """
    ordinal = tx.conn.execute(
        sa.update(conversation)
        .where(conversation.c.key == gone.conversation)
        .values(
            sessions=conversation.c.sessions + 1,
            session=sa.case(
                (conversation.c.session == gone.id, name), else_=conversation.c.session
            ),
        )
        .returning(conversation.c.sessions)
    ).scalar_one()
    ended = {"closed_at": gone.closed_at, "close_reason": "gone" if gone.closed_at else ""}
    tx.conn.execute(
        sa.insert(session).values(
            id=name,
            conversation=gone.conversation,
            ordinal=ordinal,
            peer=gone.peer,
            opened_at=now,
            **ended,
        )
    )
    tx.conn.execute(
        sa.update(session)
        .where(session.c.id == gone.id)
        .values(
            replaced_by=name,
            closed_at=sa.func.coalesce(session.c.closed_at, now),
            close_reason=sa.case(
                (session.c.closed_at.is_(None), "gone"), else_=session.c.close_reason
            ),
        )
    )


def move_rows(tx: Tx, gone: SessionId, to: SessionId) -> None:
    """Move a lost session's open rows, in order, behind those of the one in its place."""
    ids = tx.conn.execute(
        sa.select(ledger.c.id).where(_in(gone), ledger.c.state.in_(OPEN)).order_by(ledger.c.seq)
    ).scalars()
    for row in ids.all():
        tx.conn.execute(
            sa.update(ledger)
            .where(ledger.c.id == row)
            .values(
                session_number=sessions.number(to),
                seq=sessions.next_seq(tx, to),
                state=sa.case(
                    (ledger.c.state == LedgerState.SENDING, LedgerState.DUE),
                    else_=ledger.c.state,
                ),
                look_at=None,
            )
        )
    sessions.advance_index(tx, gone)
    sessions.advance_index(tx, to)


def replaces(conn: sa.Connection, name: SessionId) -> bool:
    """Tell whether a session was opened in the place of a lost one."""
    return statements.count(conn, session, session.c.replaced_by == name) > 0


def summary(conn: sa.Connection) -> Sequence[sa.Row[Any]]:
    """Return (session, state, reason, rows, oldest) of all that is not saved."""
    columns = (session.c.id.label("session"), ledger.c.state, ledger.c.reason)
    oldest = sa.func.min(ledger.c.created_at, type_=ledger.c.created_at.type)
    return conn.execute(
        sa.select(*columns, sa.func.count().label("rows"), oldest.label("oldest"))
        .join(session, session.c.number == ledger.c.session_number)
        .where(ledger.c.state != LedgerState.SAVED)
        .group_by(*columns)
        .order_by(*columns)
    ).all()
