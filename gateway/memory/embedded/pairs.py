"""What one peer may know of another: cards, and the rest as values for a ``Deriver``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from gateway.memory.embedded import spaces, tables
from gateway.memory.embedded.deriver import CONCLUSION, MESSAGE, Known, Statement
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

#: lines of a card; a fuller one is no longer a card
MOST_ON_CARD = 40

pair, message, conclusion = tables.pair, tables.message, tables.conclusion
evidence = tables.evidence

_Row = tuple[int, str, "datetime", bool]


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
    """Return the card, None where there is none. Raises ``NotFoundError`` (observer).

    It holds what was written by hand, then the newest lasting conclusions, as far as they fit.
    """
    spaces.require_peers(conn, ref.workspace, ref.observer)
    row = conn.execute(sa.select(pair.c.id, pair.c.card).where(is_(ref))).first()
    return None if row is None else _card(conn, row.id, row.card)


def _card(conn: sa.Connection, number: int, by_hand: list[str] | None) -> list[str] | None:
    query = sa.select(conclusion.c.content).where(
        conclusion.c.pair == number, conclusion.c.lasting, conclusion.c.replaced_by.is_(None)
    )
    room = max(MOST_ON_CARD - len(by_hand or ()), 0)
    newest = conn.execute(query.order_by(conclusion.c.id.desc()).limit(room)).scalars().all()
    found = [line for line in reversed(newest) if line not in (by_hand or ())]
    return [*(by_hand or ()), *found] if found or by_hand is not None else None


def set_card(tx: Tx, ref: PairRef, lines: list[str], *, now: datetime) -> None:
    """Replace the card; the observer is created as needed.

    What was concluded before stays known, but only later conclusions join the new card.
    """
    spaces.ensure_peers(tx, ref.workspace, [ref.observer], now=now)
    number = ensure(tx, {ref})[ref]
    tx.conn.execute(sa.update(pair).where(pair.c.id == number).values(card=lines))
    concluded = sa.and_(conclusion.c.pair == number, conclusion.c.lasting)
    tx.conn.execute(sa.update(conclusion).where(concluded).values(lasting=False))


def known(conn: sa.Connection, ref: PairRef, sessions: Collection[str] | None = None) -> Known:
    """Return what the observer knows, newest first; ``sessions`` confines it to these.

    A card and what was concluded outside a session belong to no session, so they are left out
    when it is confined.
    """
    row = conn.execute(sa.select(pair.c.id, pair.c.card).where(is_(ref))).first()
    if row is None:
        return Known(ref.observer, ref.observed)
    said, earlier = _said(conn, row.id, sessions)
    return Known(
        ref.observer,
        ref.observed,
        card=tuple(_card(conn, row.id, row.card) or ()) if sessions is None else (),
        conclusions=_conclusions(conn, row.id, sessions),
        said=said,
        heard=earlier,
    )


def _conclusions(
    conn: sa.Connection, number: int, sessions: Collection[str] | None
) -> tuple[Statement, ...]:
    names = ("id", "content", "created_at", "origin")
    query = sa.select(*(conclusion.c[name] for name in names))
    query = query.where(conclusion.c.pair == number, conclusion.c.replaced_by.is_(None))
    if sessions is not None:
        query = query.where(_said_in(sessions))
    rows = conn.execute(query.order_by(conclusion.c.id.desc()).limit(HORIZON))
    return tuple(
        Statement(text, at, (CONCLUSION, row), quoted=origin == "rule")
        for row, text, at, origin in rows.tuples()
    )


def _said_in(sessions: Collection[str]) -> sa.ColumnElement[bool]:
    """Return the condition that a conclusion comes from one of these sessions."""
    there = (
        sa.exists()
        .where(evidence.c.conclusion == conclusion.c.id, message.c.id == evidence.c.message)
        .where(message.c.session.in_(sessions))
    )
    return sa.or_(conclusion.c.session.in_(sessions), there)


def _said(
    conn: sa.Connection, number: int, sessions: Collection[str] | None
) -> tuple[tuple[Statement, ...], tuple[Statement, ...]]:
    """Return what was said and waits, and what was thought about and still holds."""
    heard = tables.observation
    query = (
        sa.select(message.c.id, message.c.content, message.c.created_at, heard.c.waiting)
        .join(heard, heard.c.message == message.c.id)
        .where(heard.c.pair == number, ~_outdated(number))
    )
    if sessions is not None:
        query = query.where(message.c.session.in_(sessions))
    newest = query.order_by(heard.c.message.desc()).limit(HORIZON)
    found: tuple[list[Statement], list[Statement]] = ([], [])
    with conn.execute(newest.execution_options(yield_per=200)) as rows:
        for row, text, at, waiting in _bounded(rows.tuples()):
            found[not waiting].append(Statement(text, at, (MESSAGE, row), quoted=True))
    return tuple(found[0]), tuple(found[1])


def _outdated(number: int) -> sa.ColumnElement[bool]:
    """Return the condition that whatever was concluded from a message no longer holds."""

    def drawn(*where: sa.ColumnElement[bool]) -> sa.Exists:
        joined = sa.and_(
            evidence.c.message == message.c.id,
            conclusion.c.id == evidence.c.conclusion,
            conclusion.c.pair == number,
        )
        return sa.exists().where(joined, *where).correlate(message)

    return sa.and_(
        drawn(conclusion.c.replaced_by.is_not(None)), ~drawn(conclusion.c.replaced_by.is_(None))
    )


def _bounded(rows: Iterable[_Row]) -> Iterator[_Row]:
    room = _MAX_CHARACTERS
    for row in rows:
        room -= len(row[1])
        if room < 0:
            return
        yield row
