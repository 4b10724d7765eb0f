"""Sessions: got or created, changed, listed, deleted with all they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from gateway.memory.embedded import forgetting, spaces, tables
from gateway.memory.embedded.errors import NotFoundError
from gateway.memory.embedded.filters import Fields
from gateway.memory.embedded.pages import direction, page
from gateway.store import statements

if TYPE_CHECKING:
    from datetime import datetime

    from gateway.memory.embedded.values import Json, SessionRef, Window
    from gateway.store.engine import Tx

session, membership = tables.session, tables.membership


def is_(ref: SessionRef) -> sa.ColumnElement[bool]:
    """Return the condition that a row of ``memory_session`` is this session."""
    return sa.and_(session.c.workspace == ref.workspace, session.c.id == ref.session)


def view(row: sa.RowMapping) -> Json:
    """Show a session as the API does."""
    return {**spaces.peer_view(row), "is_active": True}


def ensure(tx: Tx, ref: SessionRef, *, now: datetime) -> bool:
    """Create the session unless it is there and lock it; tell whether it is new.

    Raises ``NotFoundError`` for a session that was deleted.
    """
    spaces.ensure_workspace(tx, ref.workspace, now=now)
    fresh = {"workspace": ref.workspace, "id": ref.session, "created_at": now}
    insert = statements.insert(tx.conn, session).values(**fresh, metadata={}, configuration={})
    created = tx.conn.execute(insert.on_conflict_do_nothing().returning(session.c.id)).first()
    require(tx.conn, ref, lock=True)
    return created is not None


def require(conn: sa.Connection, ref: SessionRef, *, lock: bool = False) -> None:
    """Raise ``NotFoundError`` unless the session exists; ``lock`` keeps other writers out."""
    query = sa.select(session.c.id).where(is_(ref), session.c.deleted_at.is_(None))
    if conn.execute(query.with_for_update() if lock else query).scalar() is None:
        raise NotFoundError(f"Session {ref.session} not found in workspace {ref.workspace}")


def refuse_deleted(conn: sa.Connection, ref: SessionRef) -> None:
    """Raise ``NotFoundError`` for a session that was deleted; one that never was passes."""
    query = sa.select(session.c.id).where(is_(ref), session.c.deleted_at.is_not(None))
    if conn.execute(query).scalar() is not None:
        raise NotFoundError(f"Session {ref.session} not found in workspace {ref.workspace}")


def save(
    tx: Tx,
    ref: SessionRef,
    *,
    metadata: Json | None = None,
    configuration: Json | None = None,
    now: datetime,
) -> tuple[Json, bool]:
    """Get or create a session, apply what is given, return it and whether it is new."""
    created = ensure(tx, ref, now=now)
    spaces.apply(tx, session, is_(ref), metadata=metadata, configuration=configuration)
    return get(tx.conn, ref), created


def get(conn: sa.Connection, ref: SessionRef) -> Json:
    """Return a session that is known to be there."""
    return view(conn.execute(sa.select(session).where(is_(ref))).mappings().one())


def listed(
    conn: sa.Connection,
    space: str,
    filters: Json | None,
    window: Window,
    *,
    peer: str | None = None,
) -> Json:
    """Return a page of a workspace's sessions, or of those a peer takes part in, oldest first."""
    columns: dict[str, sa.ColumnElement[Any]] = {
        **{name: session.c[name] for name in ("id", "created_at", "metadata")},
        "workspace_id": session.c.workspace,
        "is_active": sa.literal(True),
    }
    query = sa.select(session).where(
        session.c.workspace == space,
        session.c.deleted_at.is_(None),
        Fields(conn, columns).condition(filters),
    )
    if peer is not None:
        taking_part = sa.and_(
            membership.c.workspace == space,
            membership.c.session == session.c.id,
            membership.c.peer == peer,
        )
        query = query.join(membership, taking_part)
    order = direction(window, session.c.created_at, session.c.id)
    return page(conn, query.order_by(*order), window, view)


def delete(tx: Tx, ref: SessionRef, *, now: datetime) -> None:
    """Delete a session: messages, who heard them, what came of them, summaries, members.

    The id stays taken. Raises ``NotFoundError``.
    """
    require(tx.conn, ref, lock=True)
    forgetting.said_in(tx, ref)
    message = tables.message
    said = sa.and_(message.c.workspace == ref.workspace, message.c.session == ref.session)
    for table, where in (
        (
            tables.observation,
            tables.observation.c.message.in_(sa.select(message.c.id).where(said)),
        ),
        (message, said),
        (tables.summary, _within(tables.summary, ref)),
        (membership, _within(membership, ref)),
    ):
        tx.conn.execute(sa.delete(table).where(where))
    gone = {"metadata": {}, "configuration": {}, "deleted_at": now}
    tx.conn.execute(sa.update(session).where(is_(ref)).values(gone))


def _within(table: sa.Table, ref: SessionRef) -> sa.ColumnElement[bool]:
    return sa.and_(table.c.workspace == ref.workspace, table.c.session == ref.session)
