"""What one peer may know of another: cards, and the rest as values for a ``Deriver``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from gateway.memory.embedded import spaces, tables
from gateway.memory.embedded.deriver import Known, Statement
from gateway.memory.embedded.values import PairRef
from gateway.store import statements

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from datetime import datetime

    from gateway.store.engine import Tx

#: a person's newest messages and conclusions that a view is made from
HORIZON = 2000
#: characters of them, so that one view takes little room and time
_MAX_CHARACTERS = 250_000

pair, message, conclusion = tables.pair, tables.message, tables.conclusion


def is_(ref: PairRef) -> sa.ColumnElement[bool]:
    """Return the condition that a row of ``memory_pair`` is this pair."""
    return sa.and_(
        pair.c.workspace == ref.workspace,
        pair.c.observer == ref.observer,
        pair.c.observed == ref.observed,
    )


def ensure(tx: Tx, refs: Collection[PairRef]) -> dict[PairRef, int]:
    """Create those pairs that are not there; return the row id of each."""
    if not refs:
        return {}
    rows = [ref._asdict() for ref in sorted(refs)]
    tx.conn.execute(statements.insert(tx.conn, pair).values(rows).on_conflict_do_nothing())
    query = sa.select(pair.c.id, pair.c.workspace, pair.c.observer, pair.c.observed)
    found = tx.conn.execute(query.where(sa.or_(*(is_(ref) for ref in refs))))
    return {PairRef(row.workspace, row.observer, row.observed): row.id for row in found}


def card(conn: sa.Connection, ref: PairRef) -> list[str] | None:
    """Return the card, None where none was ever set. Raises ``NotFoundError`` (observer)."""
    spaces.require_peers(conn, ref.workspace, ref.observer)
    held: list[str] | None = conn.execute(sa.select(pair.c.card).where(is_(ref))).scalar()
    return held


def set_card(tx: Tx, ref: PairRef, lines: list[str], *, now: datetime) -> None:
    """Replace the card; the observer is created as needed."""
    spaces.ensure_peers(tx, ref.workspace, [ref.observer], now=now)
    number = ensure(tx, {ref})[ref]
    tx.conn.execute(sa.update(pair).where(pair.c.id == number).values(card=lines))


def known(conn: sa.Connection, ref: PairRef, sessions: Collection[str] | None = None) -> Known:
    """Return what the observer knows, newest first; ``sessions`` confines it to these.

    A card and what was concluded outside a session belong to no session, so they are left out
    when it is confined.
    """
    row = conn.execute(sa.select(pair.c.id, pair.c.card).where(is_(ref))).first()
    if row is None:
        return Known(ref.observer, ref.observed)
    return Known(
        ref.observer,
        ref.observed,
        card=tuple(row.card or ()) if sessions is None else (),
        conclusions=_conclusions(conn, row.id, sessions),
        said=_said(conn, row.id, sessions),
    )


def _conclusions(
    conn: sa.Connection, number: int, sessions: Collection[str] | None
) -> tuple[Statement, ...]:
    query = sa.select(conclusion.c.content, conclusion.c.created_at)
    query = query.where(conclusion.c.pair == number)
    if sessions is not None:
        query = query.where(conclusion.c.session.in_(sessions))
    rows = conn.execute(query.order_by(conclusion.c.id.desc()).limit(HORIZON))
    return tuple(Statement(text, at) for text, at in rows.tuples())


def _said(
    conn: sa.Connection, number: int, sessions: Collection[str] | None
) -> tuple[Statement, ...]:
    heard = tables.observation
    query = (
        sa.select(message.c.content, message.c.created_at)
        .join(heard, heard.c.message == message.c.id)
        .where(heard.c.pair == number)
    )
    if sessions is not None:
        query = query.where(message.c.session.in_(sessions))
    newest = query.order_by(heard.c.message.desc()).limit(HORIZON)
    with conn.execute(newest.execution_options(yield_per=200)) as rows:
        return tuple(_bounded(Statement(text, at) for text, at in rows.tuples()))


def _bounded(statements: Iterable[Statement]) -> Iterator[Statement]:
    room = _MAX_CHARACTERS
    for statement in statements:
        room -= len(statement.text)
        if room < 0:
            return
        yield statement
