"""The session map: which memory session a conversation is in, and how far it was saved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from gateway.store import statements
from gateway.store.tables import conversation, ledger, session

if TYPE_CHECKING:
    from datetime import datetime

    from gateway.model.events import InboundEvent
    from gateway.model.ids import ConversationKey, PeerId, SessionId
    from gateway.store.engine import Tx


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation's present state; ``session`` is None before its first turn."""

    key: ConversationKey
    session: SessionId | None
    #: the peer of the open session, where the conversation is one person's
    peer: PeerId | None
    title: str
    #: how many memory sessions it has had
    sessions: int
    last_activity: datetime | None


@dataclass(frozen=True, slots=True)
class Listed:
    """One memory session as operators see it."""

    session: SessionId
    conversation: ConversationKey
    title: str
    #: nothing more will be said in it where False
    open: bool
    #: None where several people speak
    peer: PeerId | None
    messages: int
    last_saved_index: int
    opened_at: datetime
    last_activity: datetime | None
    close_reason: str
    replaced_by: SessionId | None


def number(name: SessionId) -> sa.ScalarSelect[int]:
    """Return what a ``session_number`` is compared with: NULL for a name that is none of ours."""
    return sa.select(session.c.number).where(session.c.id == name).scalar_subquery()


def name_of(column: sa.ColumnElement[int]) -> sa.ScalarSelect[str]:
    """Return the name behind a ``session_number``, as a column."""
    named = session.alias("named")
    where = named.c.number == column
    return sa.select(named.c.id).where(where).correlate_except(named).scalar_subquery()


def of_conversation(key: ConversationKey) -> sa.Select[Any]:
    """Return the numbers of a conversation's sessions, as the inside of an IN."""
    return sa.select(session.c.number).where(session.c.conversation == key)


def note(
    tx: Tx, key: ConversationKey, event: InboundEvent, *, participant: str | None, now: datetime
) -> None:
    """Make sure that the conversation exists."""
    statement = statements.insert(tx.conn, conversation).values(
        key=key,
        platform=event.platform,
        account=event.account,
        place_kind=event.place.kind,
        place=event.place.id,
        thread=event.place.thread,
        participant=participant,
        created_at=now,
    )
    tx.conn.execute(statement.on_conflict_do_nothing(index_elements=["key"]))


def find(conn: sa.Connection, key: ConversationKey) -> Conversation | None:
    """Return a conversation, or None when nothing was ever said in it."""
    row = conn.execute(_with_peer().where(conversation.c.key == key)).first()
    return None if row is None else Conversation(*row)


def _with_peer() -> sa.Select[Any]:
    return sa.select(
        conversation.c.key,
        conversation.c.session,
        session.c.peer,
        conversation.c.title,
        conversation.c.sessions,
        conversation.c.last_activity,
    ).outerjoin(session, session.c.id == conversation.c.session)


def open_next(
    tx: Tx, key: ConversationKey, name: SessionId, *, peer: PeerId | None, now: datetime
) -> None:
    """Open the conversation's next memory session under ``name``."""
    ordinal = tx.conn.execute(
        sa.update(conversation)
        .where(conversation.c.key == key)
        .values(session=name, sessions=conversation.c.sessions + 1)
        .returning(conversation.c.sessions)
    ).scalar_one()
    tx.conn.execute(
        sa.insert(session).values(
            id=name, conversation=key, ordinal=ordinal, peer=peer, opened_at=now
        )
    )


def close(tx: Tx, key: ConversationKey, *, reason: str, now: datetime) -> SessionId | None:
    """Close the open session so that the next turn opens another; return what was closed."""
    open_session: SessionId | None = tx.conn.execute(
        sa.select(conversation.c.session).where(conversation.c.key == key)
    ).scalar()
    if open_session is None:
        return None
    tx.conn.execute(sa.update(conversation).where(conversation.c.key == key).values(session=None))
    tx.conn.execute(
        sa.update(session)
        .where(session.c.id == open_session)
        .values(closed_at=now, close_reason=reason)
    )
    return open_session


def unused(conn: sa.Connection, key: ConversationKey) -> bool:
    """Return whether nothing was said yet in the conversation's present session, if it has one."""
    last = conn.execute(
        sa.select(session.c.last_seq)
        .join(conversation, conversation.c.session == session.c.id)
        .where(conversation.c.key == key)
    ).scalar()
    return not last


def touch(tx: Tx, key: ConversationKey, *, now: datetime) -> None:
    """Note that somebody spoke: idle and daily resets count from here. Never goes back."""
    tx.conn.execute(
        sa.update(conversation)
        .where(
            conversation.c.key == key,
            sa.or_(conversation.c.last_activity.is_(None), conversation.c.last_activity < now),
        )
        .values(last_activity=now)
    )


def set_title(tx: Tx, key: ConversationKey, title: str) -> None:
    """Give the conversation a label; the memory session's name does not change."""
    tx.conn.execute(sa.update(conversation).where(conversation.c.key == key).values(title=title))


def next_seq(tx: Tx, name: SessionId) -> int:
    """Take the session's next position for a ledger row; positions start at 1."""
    taken = tx.conn.execute(
        sa.update(session)
        .where(session.c.id == name)
        .values(last_seq=session.c.last_seq + 1)
        .returning(session.c.last_seq)
    )
    return int(taken.scalar_one())


def advance_index(tx: Tx, name: SessionId) -> None:
    """Set ``last_saved_index`` to the highest position below which all rows are settled.

    It is always counted anew from the rows, so a wrong value does not outlive the next row.
    """
    tx.conn.execute(sa.update(session).where(session.c.id == name).values(last_saved_index=_saved))


def repair_indexes(tx: Tx) -> list[SessionId]:
    """Count every ``last_saved_index`` anew; return the sessions where it was wrong."""
    wrong = sa.update(session).where(session.c.last_saved_index.is_distinct_from(_saved))
    changed = tx.conn.execute(wrong.values(last_saved_index=_saved).returning(session.c.id))
    return list(changed.scalars())


_saved = sa.func.coalesce(
    sa.select(sa.func.min(ledger.c.seq) - 1)
    .where(
        ledger.c.session_number == session.c.number, ledger.c.state.in_(("held", "due", "sending"))
    )
    .scalar_subquery(),
    session.c.last_seq,
)


def listed(
    conn: sa.Connection, *, of: str | None = None, having: str = "", limit: int | None = None
) -> list[Listed]:
    """Return memory sessions, the newest first; ``of``: of one conversation or with one name.

    ``having``: with this in the name, the conversation, the title or the peer.
    """
    statement = (
        sa.select(
            session.c.id,
            session.c.conversation,
            conversation.c.title,
            session.c.closed_at.is_(None),
            session.c.peer,
            session.c.last_seq,
            session.c.last_saved_index,
            session.c.opened_at,
            conversation.c.last_activity,
            session.c.close_reason,
            session.c.replaced_by,
        )
        .join(conversation, conversation.c.key == session.c.conversation)
        .order_by(session.c.opened_at.desc(), session.c.id)
    )
    if of is not None:
        statement = statement.where(sa.or_(session.c.conversation == of, session.c.id == of))
    if having:
        places = (session.c.id, session.c.conversation, conversation.c.title, session.c.peer)
        found = (each.icontains(having, autoescape=True) for each in places)
        statement = statement.where(sa.or_(*found))
    if limit is not None:
        statement = statement.limit(limit)
    return [Listed(*row) for row in conn.execute(statement)]
