"""Forgetting: what goes takes along all that came from it alone.

A conclusion is no more than its messages: without any it goes too, and with it its line on the
card, which is a view of conclusions, and its vector.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from gateway.memory.embedded import tables
from gateway.memory.embedded.deriver import CONCLUSION, MESSAGE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gateway.memory.embedded.values import SessionRef
    from gateway.store.engine import Tx

conclusion, evidence, vector = tables.conclusion, tables.evidence, tables.vector
message, pair = tables.message, tables.pair


def conclusions(tx: Tx, numbers: Sequence[int]) -> None:
    """Delete conclusions, and what they had taken the place of: it is the same fact, older."""
    gone, older = list(numbers), list(numbers)
    while older:
        query = sa.select(conclusion.c.id).where(conclusion.c.replaced_by.in_(older))
        older = list(tx.conn.execute(query).scalars())
        gone += older
    _drop(tx, gone)


def of_pairs(tx: Tx, pairs: sa.Select[tuple[int]]) -> None:
    """Delete all that these pairs concluded."""
    mine = sa.select(conclusion.c.id).where(conclusion.c.pair.in_(pairs))
    _drop(tx, list(tx.conn.execute(mine).scalars()))


def said_in(tx: Tx, ref: SessionRef) -> None:
    """Delete what was concluded in a session and from nothing else, before its messages go.

    What such a conclusion had replaced holds again: the rest is as if the session had never
    been. One that was said elsewhere too stays, as said there.
    """
    said = sa.select(message.c.id).where(
        message.c.workspace == ref.workspace, message.c.session == ref.session
    )
    _unlearn(tx, ref, said)
    _drop_vectors(tx, MESSAGE, said)


def _unlearn(tx: Tx, ref: SessionRef, said: sa.Select[tuple[int]]) -> None:
    of_space = sa.select(pair.c.id).where(pair.c.workspace == ref.workspace)
    here = sa.and_(conclusion.c.session == ref.session, conclusion.c.pair.in_(of_space))
    tx.conn.execute(sa.delete(evidence).where(evidence.c.message.in_(said)))
    left = sa.exists().where(evidence.c.conclusion == conclusion.c.id)
    query = sa.select(conclusion.c.id, conclusion.c.replaced_by).where(here, ~left)
    gone = dict(tx.conn.execute(query).tuples().all())
    for number in gone:
        holds = gone[number]
        while holds in gone:
            holds = gone[holds]
        older = sa.update(conclusion).where(conclusion.c.replaced_by == number)
        tx.conn.execute(older.values(replaced_by=holds))
    _drop(tx, list(gone))
    elsewhere = (
        sa.select(sa.func.min(message.c.session))
        .join(evidence, evidence.c.message == message.c.id)
        .where(evidence.c.conclusion == conclusion.c.id)
        .scalar_subquery()
    )
    tx.conn.execute(sa.update(conclusion).where(here).values(session=elsewhere))


def _drop(tx: Tx, numbers: Sequence[int]) -> None:
    tx.conn.execute(sa.delete(evidence).where(evidence.c.conclusion.in_(numbers)))
    tx.conn.execute(sa.delete(conclusion).where(conclusion.c.id.in_(numbers)))
    _drop_vectors(tx, CONCLUSION, numbers)


def _drop_vectors(tx: Tx, kind: str, numbers: Sequence[int] | sa.Select[tuple[int]]) -> None:
    tx.conn.execute(sa.delete(vector).where(vector.c.kind == kind, vector.c.item.in_(numbers)))
