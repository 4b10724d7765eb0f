"""Conclusions that one peer holds about another: made, listed, looked up, deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from gateway.memory.embedded import forgetting, pairs, sessions, spaces, tables
from gateway.memory.embedded.deriver import CONCLUSION, Statement
from gateway.memory.embedded.errors import NotFoundError, RefusedError
from gateway.memory.embedded.filters import Fields
from gateway.memory.embedded.pages import page
from gateway.memory.embedded.values import Json, PairRef, SessionRef, Window, new_id, stamp

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from gateway.memory.embedded.memory import Memory
    from gateway.memory.embedded.wire import ConclusionCreate, ConclusionQuery
    from gateway.store.engine import Tx

conclusion, pair = tables.conclusion, tables.pair

#: either spelling names a pair in the filters of a query
_SPELLINGS = (("observer_id", "observer"), ("observed_id", "observed"))


def _view(row: sa.RowMapping) -> Json:
    return {
        "id": row["public_id"],
        "content": row["content"],
        "observer_id": row["observer"],
        "observed_id": row["observed"],
        "session_id": row["session"],
        "level": row["level"],
        "created_at": stamp(row["created_at"]),
    }


def _select(conn: sa.Connection, space: str, filters: Json | None) -> sa.Select[Any]:
    columns: dict[str, sa.ColumnElement[Any]] = {
        "id": conclusion.c.public_id,
        "workspace_id": pair.c.workspace,
        "session_id": conclusion.c.session,
        "level": conclusion.c.level,
        "created_at": conclusion.c.created_at,
        **dict.fromkeys(_SPELLINGS[0], pair.c.observer),
        **dict.fromkeys(_SPELLINGS[1], pair.c.observed),
    }
    return (
        sa.select(conclusion, pair.c.observer, pair.c.observed)
        .join(pair, pair.c.id == conclusion.c.pair)
        .where(
            pair.c.workspace == space,
            conclusion.c.replaced_by.is_(None),
            Fields(conn, columns).condition(filters),
        )
    )


def create(tx: Tx, space: str, batch: Sequence[ConclusionCreate], *, now: datetime) -> list[Json]:
    """Store a batch. Raises ``NotFoundError`` for an unknown peer or session."""
    for name in {each.session_id for each in batch if each.session_id is not None}:
        sessions.require(tx.conn, SessionRef(space, name))
    names = {name for each in batch for name in (each.observer_id, each.observed_id)}
    spaces.require_peers(tx.conn, space, *sorted(names))
    refs = [PairRef(space, each.observer_id, each.observed_id) for each in batch]
    numbers = pairs.ensure(tx, set(refs))
    rows = [
        {
            "public_id": new_id(),
            "pair": numbers[ref],
            "session": each.session_id,
            "content": each.content,
            "level": "explicit",
            "created_at": now,
        }
        for each, ref in zip(batch, refs, strict=True)
    ]
    tx.conn.execute(sa.insert(conclusion), rows)
    ids = [row["public_id"] for row in rows]
    query = _select(tx.conn, space, {"id": ids}).order_by(conclusion.c.id)
    return [_view(row) for row in tx.conn.execute(query).mappings()]


def listed(conn: sa.Connection, space: str, filters: Json | None, window: Window) -> Json:
    """Return a page of a workspace's conclusions, newest first."""
    newest_first = conclusion.c.id.asc() if window.reverse else conclusion.c.id.desc()
    return page(conn, _select(conn, space, filters).order_by(newest_first), window, _view)


async def look_up(memory: Memory, space: str, asked: ConclusionQuery) -> list[Json]:
    """Return one pair's conclusions that fit a query, best first.

    Raises ``RefusedError`` unless the filters name observer and observed.
    """
    filters = asked.filters or {}
    if not all(any(filters.get(name) for name in names) for names in _SPELLINGS):
        raise RefusedError("observer and observed must be given in 'filters'")
    rows = await memory.store.read(lambda conn: _newest(conn, space, filters))
    items = [Statement(row["content"], row["created_at"], (CONCLUSION, row["id"])) for row in rows]
    by_key = {item.key: row for item, row in zip(items, rows, strict=True)}
    fitting = await memory.ranker.fitting(asked.query, items)
    return [_view(by_key[each.key]) for each in fitting[: asked.top_k]]


def _newest(conn: sa.Connection, space: str, filters: Json) -> Sequence[sa.RowMapping]:
    newest = _select(conn, space, filters).order_by(conclusion.c.id.desc()).limit(pairs.HORIZON)
    return conn.execute(newest).mappings().all()


def delete(tx: Tx, space: str, public_id: str) -> None:
    """Delete one conclusion with what it had replaced. Raises ``NotFoundError``."""
    here = sa.select(pair.c.id).where(pair.c.workspace == space)
    mine = sa.and_(conclusion.c.public_id == public_id, conclusion.c.pair.in_(here))
    number = tx.conn.execute(sa.select(conclusion.c.id).where(mine)).scalar()
    if number is None:
        raise NotFoundError(f"Conclusion {public_id} not found in workspace {space}")
    forgetting.conclusions(tx, [number])
