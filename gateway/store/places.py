"""Chats, groups and channels: what is known of them, and where a moved one went."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import sqlalchemy as sa

from gateway.store import statements
from gateway.store.tables import conversation, place

if TYPE_CHECKING:
    from datetime import datetime

    from gateway.model.events import Place
    from gateway.store.engine import Tx


class PlaceKey(NamedTuple):
    """One place of one account."""

    platform: str
    account: str
    place: str


def _is(key: PlaceKey) -> sa.ColumnElement[bool]:
    return sa.and_(
        place.c.platform == key.platform,
        place.c.account == key.account,
        place.c.place == key.place,
    )


def seen(tx: Tx, key: PlaceKey, where: Place, *, message: str, now: datetime) -> None:
    """Note a sign of life: the place is reachable again, ``message`` is its newest."""
    fresh = {
        "title": where.title,
        "last_message": message,
        "last_seen": now,
        "unreachable_at": None,
    }
    statement = statements.insert(tx.conn, place).values(**key._asdict(), kind=where.kind, **fresh)
    tx.conn.execute(
        statement.on_conflict_do_update(
            index_elements=["platform", "account", "place"], set_=fresh
        )
    )


def mark_unreachable(tx: Tx, key: PlaceKey, *, now: datetime) -> None:
    """Note that the place cannot be written to; the next sign of life clears it."""
    tx.conn.execute(sa.update(place).where(_is(key)).values(unreachable_at=now))


def unreachable(conn: sa.Connection, key: PlaceKey) -> bool:
    """Return whether the place is known not to take messages."""
    since = conn.execute(sa.select(place.c.unreachable_at).where(_is(key))).scalar()
    return since is not None


def move(tx: Tx, key: PlaceKey, new: str, where: Place, *, now: datetime) -> bool:
    """Carry a place's conversations over to its new id; False when that was done before."""
    known = tx.conn.execute(sa.select(place.c.moved_to).where(_is(key))).scalar()
    if known == new:
        return False
    seen(tx, key, where, message="", now=now)
    tx.conn.execute(sa.update(place).where(_is(key)).values(moved_to=new))
    target = key._replace(place=new)
    seen(tx, target, where, message="", now=now)
    tx.conn.execute(sa.update(place).where(_is(target)).values(moved_from=key.place))
    return True


def current(conn: sa.Connection, key: PlaceKey) -> str:
    """Return the place's present id, following its moves."""
    here = key
    for _ in range(8):
        new = conn.execute(sa.select(place.c.moved_to).where(_is(here))).scalar()
        if new is None:
            break
        here = here._replace(place=new)
    return here.place


def ids(conn: sa.Connection, key: PlaceKey) -> frozenset[str]:
    """Return every id the place has had, so that a list naming the old one keeps working."""
    found = {key.place}
    here: str | None = key.place
    for _ in range(8):
        here = conn.execute(
            sa.select(place.c.moved_from).where(_is(key._replace(place=here or "")))
        ).scalar()
        if here is None:
            break
        found.add(here)
    return frozenset(found)


def origin(conn: sa.Connection, key: PlaceKey) -> str:
    """Return the id under which the place's conversations are keyed: its first known one."""
    known = ids(conn, key)
    statement = (
        sa.select(conversation.c.place)
        .where(
            conversation.c.platform == key.platform,
            conversation.c.account == key.account,
            conversation.c.place.in_(known),
        )
        .order_by(conversation.c.created_at)
        .limit(1)
    )
    return conn.execute(statement).scalar() or key.place
