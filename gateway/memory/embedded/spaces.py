"""Workspaces and peers: got or created, changed, listed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from gateway.memory.embedded import forgetting, tables
from gateway.memory.embedded.errors import ConflictError, NotFoundError
from gateway.memory.embedded.filters import Fields
from gateway.memory.embedded.pages import direction, page
from gateway.memory.embedded.values import Json, Window, stamp
from gateway.store import statements

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from gateway.store.engine import Tx

workspace, peer = tables.workspace, tables.peer


def workspace_view(row: sa.RowMapping) -> Json:
    """Show a workspace as the API does."""
    return {
        "id": row["id"],
        "metadata": row["metadata"],
        "configuration": row["configuration"],
        "created_at": stamp(row["created_at"]),
    }


def peer_view(row: sa.RowMapping) -> Json:
    """Show a peer as the API does."""
    return {**workspace_view(row), "workspace_id": row["workspace"]}


# --- workspaces ------------------------------------------------------------------------------


def ensure_workspace(tx: Tx, name: str, *, now: datetime) -> bool:
    """Create the workspace unless it is there; tell whether it is new."""
    fresh = {"id": name, "metadata": {}, "configuration": {}, "created_at": now}
    insert = statements.insert(tx.conn, workspace).values(fresh).on_conflict_do_nothing()
    return tx.conn.execute(insert.returning(workspace.c.id)).first() is not None


def save_workspace(
    tx: Tx, name: str, *, metadata: Json | None, configuration: Json | None, now: datetime
) -> tuple[Json, bool]:
    """Get or create a workspace, apply what is given, return it and whether it is new."""
    created = ensure_workspace(tx, name, now=now)
    where = workspace.c.id == name
    apply(tx, workspace, where, metadata=metadata, configuration=configuration)
    row = tx.conn.execute(sa.select(workspace).where(where)).mappings().one()
    return workspace_view(row), created


def apply(
    tx: Tx,
    table: sa.Table,
    where: sa.ColumnElement[bool],
    *,
    metadata: Json | None,
    configuration: Json | None,
) -> None:
    """Replace the metadata and merge the configuration of one row, each where it is given."""
    changes: Json = {}
    if metadata is not None:
        changes["metadata"] = metadata
    if configuration is not None:
        held = sa.select(table.c.configuration).where(where).with_for_update()
        changes["configuration"] = {**tx.conn.execute(held).scalar_one(), **configuration}
    if changes:
        tx.conn.execute(sa.update(table).where(where).values(changes))


def list_workspaces(conn: sa.Connection, filters: Json | None, window: Window) -> Json:
    """Return a page of the workspaces, oldest first."""
    fields = Fields(conn, {name: workspace.c[name] for name in ("id", "created_at", "metadata")})
    query = sa.select(workspace).where(fields.condition(filters))
    order = direction(window, workspace.c.created_at, workspace.c.id)
    return page(conn, query.order_by(*order), window, workspace_view)


def delete_workspace(tx: Tx, name: str) -> None:
    """Delete a workspace and all in it. Raises while it has sessions, or when it is unknown."""
    lock = sa.select(workspace.c.id).where(workspace.c.id == name).with_for_update()
    if tx.conn.execute(lock).scalar() is None:
        raise NotFoundError(f"Workspace {name} not found")
    session = tables.session
    if statements.count(
        tx.conn, session, session.c.workspace == name, session.c.deleted_at.is_(None)
    ):
        raise ConflictError(f"Workspace {name} has active sessions; delete them first")
    pairs = sa.select(tables.pair.c.id).where(tables.pair.c.workspace == name)
    forgetting.of_pairs(tx, pairs)
    for table in (tables.pair, session, peer):
        tx.conn.execute(sa.delete(table).where(table.c.workspace == name))
    tx.conn.execute(sa.delete(workspace).where(workspace.c.id == name))


# --- peers -----------------------------------------------------------------------------------


def ensure_peers(tx: Tx, space: str, names: Iterable[str], *, now: datetime) -> int:
    """Create those peers that are not there, and the workspace; return how many are new."""
    ensure_workspace(tx, space, now=now)
    fresh = [
        {"workspace": space, "id": name, "metadata": {}, "configuration": {}, "created_at": now}
        for name in sorted(set(names))
    ]
    if not fresh:
        return 0
    insert = statements.insert(tx.conn, peer).values(fresh).on_conflict_do_nothing()
    return len(tx.conn.execute(insert.returning(peer.c.id)).all())


def save_peer(
    tx: Tx,
    space: str,
    name: str,
    *,
    changes: Json,
    now: datetime,
) -> tuple[Json, bool]:
    """Get or create a peer, replace what is given, return it and whether it is new."""
    created = ensure_peers(tx, space, [name], now=now) == 1
    where = sa.and_(peer.c.workspace == space, peer.c.id == name)
    if changes:
        tx.conn.execute(sa.update(peer).where(where).values(changes))
    row = tx.conn.execute(sa.select(peer).where(where)).mappings().one()
    return peer_view(row), created


def require_peers(conn: sa.Connection, space: str, *names: str) -> None:
    """Raise ``NotFoundError`` for the first of these peers that does not exist."""
    query = sa.select(peer.c.id).where(peer.c.workspace == space, peer.c.id.in_(names))
    known = set(conn.execute(query).scalars())
    for name in names:
        if name not in known:
            raise NotFoundError(f"Peer {name} not found in workspace {space}")


def list_peers(conn: sa.Connection, space: str, filters: Json | None, window: Window) -> Json:
    """Return a page of a workspace's peers, oldest first."""
    columns: dict[str, sa.ColumnElement[Any]] = {
        **{name: peer.c[name] for name in ("id", "created_at", "metadata")},
        "workspace_id": peer.c.workspace,
    }
    found = Fields(conn, columns).condition(filters)
    query = sa.select(peer).where(peer.c.workspace == space, found)
    order = direction(window, peer.c.created_at, peer.c.id)
    return page(conn, query.order_by(*order), window, peer_view)
