"""Recall rows: what was fetched for a person's next turn, and the base layer in force."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import sqlalchemy as sa

from gateway.policy.audience import Audience
from gateway.store import statements
from gateway.store.people_tables import session_home
from gateway.store.tables import recall, session, turn

if TYPE_CHECKING:
    from datetime import datetime

    from gateway.model.ids import PeerId, SessionId, TurnId
    from gateway.store.engine import Tx

#: the sections of a base layer by name, e.g. ``{"summary": …, "card": …}``
Base = dict[str, str]


class RecallKey(NamedTuple):
    """Whose recall: nobody else's, in no other session, before no other audience."""

    session: SessionId
    peer: PeerId
    audience: Audience


@dataclass(frozen=True, slots=True)
class Popped:
    """What one turn may use. Turn numbers count this person's turns in the session from 1."""

    turn: int
    base: Base | None = None
    base_turn: int = 0
    dialectic: str = ""
    dialectic_turn: int = 0


@dataclass(frozen=True, slots=True)
class State:
    """What decides whether to fetch again after a turn."""

    turns: int = 0
    #: the newest fetched base's turn, None where there is none or nothing was known
    base_turn: int | None = None
    asked_turn: int | None = None
    empties: int = 0


def _is(key: RecallKey) -> sa.ColumnElement[bool]:
    return sa.and_(
        recall.c.session == key.session,
        recall.c.peer == key.peer,
        recall.c.audience == key.audience,
    )


def _row(conn: sa.Connection, key: RecallKey) -> sa.Row[Any] | None:
    return conn.execute(sa.select(recall).where(_is(key))).first()


def pop(tx: Tx, key: RecallKey, *, revision: str, count: bool = True, now: datetime) -> Popped:
    """Begin a turn: count it, take what was fetched for it, make a fetched base the one in force.

    Rows of another identity revision are deleted, not used. ``count`` False: the same turn takes
    what has come in since it began.
    """
    _prepare(tx, key, revision=revision, now=now)
    row = _row(tx.conn, key)
    if row is None:
        raise LookupError("the recall row was just made")
    turns = row.turns + count
    base, base_turn = row.base, row.base_turn
    if row.next_base is not None:
        base, base_turn = row.next_base, row.next_base_turn
    tx.conn.execute(
        sa.update(recall)
        .where(_is(key))
        .values(
            turns=turns,
            base=base if base is not None else sa.null(),
            base_turn=base_turn,
            next_base=sa.null(),
            next_dialectic=None,
            updated_at=now,
        )
    )
    return Popped(
        turn=turns,
        base=base,
        base_turn=base_turn,
        dialectic=row.next_dialectic or "",
        dialectic_turn=row.next_dialectic_turn,
    )


def _prepare(tx: Tx, key: RecallKey, *, revision: str, now: datetime) -> None:
    row = _row(tx.conn, key)
    if row is not None and row.revision != revision:
        tx.conn.execute(sa.delete(recall).where(_is(key)))
        row = None
    if row is None:
        statement = statements.insert(tx.conn, recall).values(
            **key._asdict(), revision=revision, updated_at=now
        )
        index = ["session", "peer", "audience"]
        tx.conn.execute(statement.on_conflict_do_nothing(index_elements=index))


def state(conn: sa.Connection, key: RecallKey, *, revision: str) -> State:
    """Return what is known for the cadence; empty for another identity revision."""
    row = _row(conn, key)
    if row is None or row.revision != revision:
        return State()
    base, fetched = row.base, row.base_turn
    if row.next_base is not None:
        base, fetched = row.next_base, row.next_base_turn
    known = any((base or {}).values())
    return State(row.turns, fetched if known else None, row.asked_turn, row.empties)


def keep_base(tx: Tx, key: RecallKey, base: Base, *, revision: str, now: datetime) -> None:
    """Store a base that was fetched just now, for the person's next turn."""
    _prepare(tx, key, revision=revision, now=now)
    tx.conn.execute(
        sa.update(recall)
        .where(_is(key))
        .values(next_base=base, next_base_turn=recall.c.turns, updated_at=now)
    )


def keep_dialectic(
    tx: Tx,
    key: RecallKey,
    answer: str,
    *,
    asked: int | None,
    empties: int,
    revision: str,
    now: datetime,
) -> None:
    """Store a dialectic answer for the next turn, and the cadence's new state."""
    _prepare(tx, key, revision=revision, now=now)
    values: dict[str, Any] = {"asked_turn": asked, "empties": empties, "updated_at": now}
    if answer:
        values |= {"next_dialectic": answer, "next_dialectic_turn": recall.c.turns}
    tx.conn.execute(sa.update(recall).where(_is(key)).values(**values))


def freeze(tx: Tx, turn_id: TurnId, recalled: dict[str, Any]) -> None:
    """Keep what a turn recalled, so that a run after a crash says the same."""
    tx.conn.execute(sa.update(turn).where(turn.c.id == turn_id).values(recall=recalled))


def frozen(conn: sa.Connection, turn_id: TurnId) -> dict[str, Any] | None:
    """Return what a turn recalled; without its text once the turn is closed."""
    return conn.execute(sa.select(turn.c.recall).where(turn.c.id == turn_id)).scalar()


def thaw(tx: Tx, turn_id: TurnId) -> None:
    """Drop the recalled text of a turn that is closed; the trace keeps the layers."""
    recalled = frozen(tx.conn, turn_id)
    if recalled is not None:
        freeze(tx, turn_id, {**recalled, "text": ""})


def sessions_of(conn: sa.Connection, peer: PeerId, *, limit: int = 50) -> list[SessionId]:
    """Return the newest sessions that are this person's alone, as the service knows them.

    What was said before the person was this peer stands there under another name.
    """
    elsewhere = sa.and_(session_home.c.source == session.c.id, session_home.c.state == "active")
    rows = conn.execute(
        sa.select(sa.func.coalesce(session_home.c.name, session.c.id))
        .outerjoin(session_home, elsewhere)
        .where(session.c.peer == peer)
        .order_by(session.c.opened_at.desc())
        .limit(limit)
    )
    return list(rows.scalars())


def recent(conn: sa.Connection, *, limit: int) -> list[RecallKey]:
    """Return the keys that were used last."""
    columns = (recall.c.session, recall.c.peer, recall.c.audience)
    rows = conn.execute(sa.select(*columns).order_by(recall.c.updated_at.desc()).limit(limit))
    return [RecallKey(row.session, row.peer, Audience(row.audience)) for row in rows]
