"""Turns, their checkpoints and their committed model steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from gateway.model.events import PlaceKind
from gateway.model.outbound import Address
from gateway.model.turn import TurnState, check_transition
from gateway.store import sessions, statements
from gateway.store.people import Account
from gateway.store.tables import checkpoint, conversation, session, turn, turn_step

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from gateway.model.ids import ConversationKey, MessageId, PeerId, SessionId, TurnId
    from gateway.store.engine import Tx


@dataclass(frozen=True, slots=True)
class Turn:
    """What was decided when the turn was claimed; frozen from then on."""

    id: TurnId
    conversation: ConversationKey
    session: SessionId
    peer: PeerId
    rung: str
    #: the resolver's trace, as ``whois --json`` prints it
    identity: Mapping[str, Any]
    address: Address
    account: Account
    reply_to: MessageId
    language: str
    state: TurnState = TurnState.ADMITTED
    attempt: int = 0
    stop_requested: bool = False


def create(tx: Tx, new: Turn, *, now: datetime) -> None:
    """Store a turn that was just claimed."""
    tx.conn.execute(
        sa.insert(turn).values(
            id=new.id,
            session_number=sessions.number(new.session),
            peer=new.peer,
            rung=new.rung,
            identity=dict(new.identity),
            state=new.state,
            platform=new.address.platform,
            account=new.address.account,
            place=new.address.place,
            thread=new.address.thread,
            scope=new.account.scope,
            user_id=new.account.user_id,
            reply_to=new.reply_to,
            language=new.language,
            created_at=now,
            updated_at=now,
        )
    )


def load(conn: sa.Connection, turn_id: TurnId) -> Turn | None:
    """Return a turn, or None."""
    row = conn.execute(_whole().where(turn.c.id == turn_id)).first()
    return None if row is None else _turn(row)


def _whole() -> sa.Select[Any]:
    """Return turns with the names of their session and conversation."""
    names = session.c.id.label("session"), session.c.conversation
    return sa.select(turn, *names).join(session, session.c.number == turn.c.session_number)


def _turn(row: sa.Row[Any]) -> Turn:
    return Turn(
        id=row.id,
        conversation=row.conversation,
        session=row.session,
        peer=row.peer,
        rung=row.rung,
        identity=row.identity,
        address=Address(row.platform, row.account, row.place, row.thread),
        account=Account(row.platform, row.scope, row.user_id),
        reply_to=row.reply_to,
        language=row.language,
        state=TurnState(row.state),
        attempt=row.attempt,
        stop_requested=row.stop_requested,
    )


def advance(
    tx: Tx,
    turn_id: TurnId,
    new: TurnState,
    *,
    now: datetime,
    detail: str = "",
    **values: Any,
) -> None:
    """Take a turn to its next state and write the checkpoint.

    Raises ``IllegalTransitionError`` when the present state does not allow it.
    """
    present = sa.select(turn.c.state, turn.c.attempt).where(turn.c.id == turn_id)
    row = tx.conn.execute(present.with_for_update()).one()
    check_transition(TurnState(row.state), new)
    tx.conn.execute(
        sa.update(turn).where(turn.c.id == turn_id).values(state=new, updated_at=now, **values)
    )
    mark(tx, turn_id, new, "ok", attempt=row.attempt, detail=detail, now=now)


def mark(
    tx: Tx,
    turn_id: TurnId,
    step: str,
    status: str,
    *,
    now: datetime,
    attempt: int = 0,
    detail: str = "",
) -> None:
    """Write a checkpoint. ``detail`` is for the trace and holds no message text."""
    tx.conn.execute(
        sa.insert(checkpoint).values(
            turn=turn_id, step=step, status=status, attempt=attempt, detail=detail, at=now
        )
    )


def begin_attempt(tx: Tx, turn_id: TurnId, *, now: datetime) -> int:
    """Count one more run of the turn and return its number."""
    counted = tx.conn.execute(
        sa.update(turn)
        .where(turn.c.id == turn_id)
        .values(attempt=turn.c.attempt + 1, updated_at=now)
        .returning(turn.c.attempt)
    )
    attempt = int(counted.scalar_one())
    mark(tx, turn_id, "run", "started", attempt=attempt, now=now)
    return attempt


def direct_address(conn: sa.Connection, of: Turn) -> Address | None:
    """Return where the turn's account last wrote to the same bot alone; None: it never did."""
    where = (turn.c.platform, turn.c.account, turn.c.place, turn.c.thread)
    row = conn.execute(
        sa.select(*where)
        .select_from(_placed())
        .where(
            turn.c.platform == of.address.platform,
            turn.c.account == of.address.account,
            turn.c.scope == of.account.scope,
            turn.c.user_id == of.account.user_id,
            conversation.c.place_kind == PlaceKind.DIRECT,
        )
        .order_by(turn.c.id.desc())
        .limit(1)
    ).first()
    return None if row is None else Address(*row)


def _placed() -> sa.Join:
    """Return turns with their conversations."""
    opened = turn.join(session, session.c.number == turn.c.session_number)
    return opened.join(conversation, conversation.c.key == session.c.conversation)


def filed_since(conn: sa.Connection, account: Account, peer: PeerId) -> datetime | None:
    """Return when an account's turns began to be filed under ``peer`` and under no other."""
    mine = (
        turn.c.platform == account.platform,
        turn.c.scope == account.scope,
        turn.c.user_id == account.user_id,
        turn.c.rung != "unattributed",
    )
    other = sa.select(sa.func.max(turn.c.id)).where(*mine, turn.c.peer != peer)
    last = conn.execute(other).scalar() or ""
    first = sa.select(turn.c.created_at).where(*mine, turn.c.peer == peer, turn.c.id > last)
    found: datetime | None = conn.execute(first.order_by(turn.c.id).limit(1)).scalar()
    return found


def is_from(conn: sa.Connection, turn_id: TurnId, account: Account) -> bool:
    """Tell whether a turn is an account's own."""
    found = load(conn, turn_id)
    return found is not None and found.account == account


def last_direct(conn: sa.Connection, account: Account) -> tuple[Address, str] | None:
    """Return where an account last wrote to a bot alone, and its language; None: it never did."""
    where = (turn.c.platform, turn.c.account, turn.c.place, turn.c.thread, turn.c.language)
    row = conn.execute(
        sa.select(*where)
        .select_from(_placed())
        .where(
            turn.c.platform == account.platform,
            turn.c.scope == account.scope,
            turn.c.user_id == account.user_id,
            conversation.c.place_kind == PlaceKind.DIRECT,
        )
        .order_by(turn.c.id.desc())
        .limit(1)
    ).first()
    return None if row is None else (Address(*row[:4]), row.language)


def last_alone(conn: sa.Connection, peer: PeerId) -> Turn | None:
    """Return the last turn in which a person wrote to a bot alone; None: there is none."""
    row = conn.execute(
        _whole()
        .join(conversation, conversation.c.key == session.c.conversation)
        .where(turn.c.peer == peer, conversation.c.place_kind == PlaceKind.DIRECT)
        .order_by(turn.c.id.desc())
        .limit(1)
    ).first()
    return None if row is None else _turn(row)


def number_of(conn: sa.Connection, peer: PeerId) -> int:
    """Return how many turns a person had."""
    return statements.count(conn, turn, turn.c.peer == peer)


def request_stop(tx: Tx, conversation: ConversationKey) -> TurnId | None:
    """Ask the conversation's running turn to stop, also over a restart; None: none runs."""
    return tx.conn.execute(
        sa.update(turn)
        .where(
            turn.c.session_number.in_(sessions.of_conversation(conversation)),
            turn.c.state == TurnState.RUNNING,
        )
        .values(stop_requested=True)
        .returning(turn.c.id)
    ).scalar()


def latest(
    conn: sa.Connection, conversation: ConversationKey, *, account: Account | None = None
) -> TurnId | None:
    """Return the conversation's newest turn (of one account, where given)."""
    here = turn.c.session_number.in_(sessions.of_conversation(conversation))
    statement = sa.select(turn.c.id).where(here)
    if account is not None:
        statement = statement.where(
            turn.c.scope == account.scope, turn.c.user_id == account.user_id
        )
    return conn.execute(statement.order_by(turn.c.id.desc()).limit(1)).scalar()


def recent(
    conn: sa.Connection, *, peer: str = "", state: str = "", limit: int = 50
) -> list[sa.Row[Any]]:
    """Return the newest turns, of one peer or in one state where given; without any text."""
    columns = (
        *(turn.c.id, session.c.conversation, session.c.id.label("session")),
        *(turn.c.peer, turn.c.rung),
        *(turn.c.state, turn.c.attempt, turn.c.platform, turn.c.error),
        *(turn.c.created_at, turn.c.updated_at),
    )
    statement = sa.select(*columns).join(session, session.c.number == turn.c.session_number)
    statement = statement.order_by(turn.c.id.desc()).limit(limit)
    if peer:
        statement = statement.where(turn.c.peer == peer)
    if state:
        statement = statement.where(turn.c.state == state)
    return list(conn.execute(statement))


def usage(conn: sa.Connection, turn_id: TurnId) -> dict[str, Any] | None:
    """Return which model answered and what it took; None before the answer."""
    return conn.execute(sa.select(turn.c.usage).where(turn.c.id == turn_id)).scalar()


def told(conn: sa.Connection, asking: Turn, status: str, detail: str) -> bool:
    """Tell whether another turn of a turn's session has a checkpoint like that."""
    found = (
        sa.select(checkpoint.c.id)
        .join(turn, turn.c.id == checkpoint.c.turn)
        .where(
            turn.c.session_number == sessions.number(asking.session),
            turn.c.id != asking.id,
            checkpoint.c.status == status,
            checkpoint.c.detail == detail,
        )
    )
    return conn.execute(found.limit(1)).first() is not None


def checkpoints(conn: sa.Connection, turn_id: TurnId) -> list[sa.Row[Any]]:
    """Return (step, status, attempt, detail, at) of a turn in order."""
    columns = (
        checkpoint.c.step,
        checkpoint.c.status,
        checkpoint.c.attempt,
        checkpoint.c.detail,
        checkpoint.c.at,
    )
    return list(
        conn.execute(
            sa.select(*columns).where(checkpoint.c.turn == turn_id).order_by(checkpoint.c.id)
        )
    )


def steps(conn: sa.Connection, turn_id: TurnId) -> list[str]:
    """Return the committed model steps of a turn."""
    rows = conn.execute(
        sa.select(turn_step.c.step)
        .where(turn_step.c.turn == turn_id)
        .order_by(turn_step.c.ordinal)
    )
    return list(rows.scalars())


def add_step(tx: Tx, turn_id: TurnId, step: str) -> None:
    """Commit one more model step."""
    ordinal = statements.count(tx.conn, turn_step, turn_step.c.turn == turn_id)
    tx.conn.execute(sa.insert(turn_step).values(turn=turn_id, ordinal=ordinal, step=step))


def drop_steps(tx: Tx, turn_id: TurnId) -> None:
    """Forget the model steps of a turn that is answered: they will not be run again."""
    tx.conn.execute(sa.delete(turn_step).where(turn_step.c.turn == turn_id))


def counts(conn: sa.Connection) -> dict[str, int]:
    """Return how many turns are in each state."""
    return statements.count_by(conn, turn.c.state)
