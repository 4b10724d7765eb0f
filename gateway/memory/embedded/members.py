"""Who takes part in a session, and who observes whom there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from gateway.memory.embedded import sessions, spaces, tables
from gateway.memory.embedded.errors import NotFoundError, TooManyObserversError
from gateway.memory.embedded.pages import page
from gateway.memory.embedded.values import Flags
from gateway.store import statements

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from datetime import datetime

    from gateway.memory.embedded.values import Json, SessionRef, Window
    from gateway.store.engine import Tx

MAX_OBSERVERS = 10

membership, peer = tables.membership, tables.peer


def _of(ref: SessionRef) -> sa.ColumnElement[bool]:
    return sa.and_(membership.c.workspace == ref.workspace, membership.c.session == ref.session)


def add(tx: Tx, ref: SessionRef, peers: Mapping[str, Flags], *, now: datetime) -> None:
    """Let peers take part; whoever already does keeps the flags it has.

    The session must be locked. Raises ``TooManyObserversError``.
    """
    spaces.ensure_peers(tx, ref.workspace, peers, now=now)
    rows = [
        {
            "workspace": ref.workspace,
            "session": ref.session,
            "peer": name,
            **flags._asdict(),
            "joined_at": now,
        }
        for name, flags in peers.items()
    ]
    if rows:
        insert = statements.insert(tx.conn, membership).values(rows)
        tx.conn.execute(insert.on_conflict_do_nothing())
        _check_observers(tx, ref)


def replace(tx: Tx, ref: SessionRef, peers: Mapping[str, Flags], *, now: datetime) -> None:
    """Let exactly these peers take part, with these flags. See ``add``."""
    tx.conn.execute(sa.delete(membership).where(_of(ref)))
    add(tx, ref, peers, now=now)


def remove(tx: Tx, ref: SessionRef, peers: Collection[str]) -> None:
    """Let these peers take part no longer; if they come back, their flags are gone."""
    tx.conn.execute(sa.delete(membership).where(_of(ref), membership.c.peer.in_(peers)))


def flags(conn: sa.Connection, ref: SessionRef, name: str) -> Json:
    """Return a member's flags. Raises ``NotFoundError`` when it takes no part."""
    query = sa.select(membership.c.observe_me, membership.c.observe_others)
    row = conn.execute(query.where(_of(ref), membership.c.peer == name)).mappings().first()
    if row is None:
        raise NotFoundError(f"Peer {name} not found in session {ref.session}")
    return dict(row)


def set_flags(tx: Tx, ref: SessionRef, name: str, changes: Flags, *, now: datetime) -> None:
    """Set the given flags of a peer, which takes part from then on.

    Raises ``NotFoundError`` for an unknown session or peer, ``TooManyObserversError``.
    """
    sessions.require(tx.conn, ref, lock=True)
    spaces.require_peers(tx.conn, ref.workspace, name)
    add(tx, ref, {name: Flags()}, now=now)
    given = {key: value for key, value in changes._asdict().items() if value is not None}
    if given:
        mine = sa.and_(_of(ref), membership.c.peer == name)
        tx.conn.execute(sa.update(membership).where(mine).values(given))
        _check_observers(tx, ref)


def listed(conn: sa.Connection, ref: SessionRef, window: Window) -> Json:
    """Return a page of the peers that take part, in the order of their ids."""
    query = sa.select(peer).join(
        membership,
        sa.and_(_of(ref), peer.c.workspace == ref.workspace, peer.c.id == membership.c.peer),
    )
    return page(conn, query.order_by(peer.c.id), window, spaces.peer_view)


def observers(
    conn: sa.Connection, ref: SessionRef, authors: Collection[str]
) -> dict[str, list[str]]:
    """Return for each author who hears it: itself first; nobody if it is not to be observed.

    The session's ``observe_me`` beats the peer's; not set, it is on.
    """
    listening = sa.select(membership.c.peer).where(_of(ref), membership.c.observe_others.is_(True))
    others = sorted(conn.execute(listening).scalars())
    heard = sa.select(membership.c.peer, membership.c.observe_me, peer.c.configuration).join(
        peer, sa.and_(peer.c.workspace == ref.workspace, peer.c.id == membership.c.peer)
    )
    rows = conn.execute(heard.where(_of(ref), membership.c.peer.in_(authors))).tuples()
    return {
        name: [name, *(other for other in others if other != name)]
        if _is_observed(here, configuration)
        else []
        for name, here, configuration in rows
    }


def _is_observed(here: bool | None, configuration: Json) -> bool:
    if here is not None:
        return here
    return configuration.get("observe_me") is not False


def _check_observers(tx: Tx, ref: SessionRef) -> None:
    watching = statements.count(
        tx.conn, membership, _of(ref), membership.c.observe_others.is_(True)
    )
    if watching > MAX_OBSERVERS:
        raise TooManyObserversError(
            f"Session {ref.session} would have {watching} observers; at most {MAX_OBSERVERS} "
            "are allowed. Observers are peers with 'observe_others' set to true."
        )
