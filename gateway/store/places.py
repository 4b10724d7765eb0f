"""Chats, groups and channels: what is known of them, and where a moved one went."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import sqlalchemy as sa

from gateway.model.events import Place, PlaceKind
from gateway.model.ids import PlaceId
from gateway.store import statements
from gateway.store.tables import conversation, place

if TYPE_CHECKING:
    from datetime import datetime

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
    _note(tx, key, where, now=now, last_message=message)


def _note(tx: Tx, key: PlaceKey, where: Place, *, now: datetime, **values: str) -> None:
    fresh = {**values, "title": where.title, "last_seen": now, "unreachable_at": None}
    statement = statements.insert(tx.conn, place).values(**key._asdict(), kind=where.kind, **fresh)
    tx.conn.execute(
        statement.on_conflict_do_update(
            index_elements=["platform", "account", "place"], set_=fresh
        )
    )


def mark_unreachable(tx: Tx, key: PlaceKey, *, now: datetime) -> None:
    """Note that the place cannot be written to; the next sign of life clears it."""
    tx.conn.execute(sa.update(place).where(_is(key)).values(unreachable_at=now))


def mark_reachable(tx: Tx, key: PlaceKey) -> None:
    """Let the place be written to again."""
    tx.conn.execute(sa.update(place).where(_is(key)).values(unreachable_at=None))


def unreachable(conn: sa.Connection, key: PlaceKey) -> bool:
    """Return whether the place is known not to take messages."""
    since = conn.execute(sa.select(place.c.unreachable_at).where(_is(key))).scalar()
    return since is not None


def move(tx: Tx, key: PlaceKey, new: str, where: Place, *, now: datetime) -> bool:
    """Carry a place's conversations over to its new id; False when that was done before."""
    known = tx.conn.execute(sa.select(place.c.moved_to).where(_is(key))).scalar()
    if known == new:
        return False
    _note(tx, key, where, now=now, moved_to=new)
    _note(tx, key._replace(place=new), where, now=now, moved_from=key.place)
    return True


def follow(tx: Tx, key: PlaceKey, new: str, *, now: datetime) -> None:
    """Carry a place over whose move was found out by writing to it, without a notice."""
    found = tx.conn.execute(sa.select(place.c.kind, place.c.title).where(_is(key))).first()
    if found is not None:
        where = Place(PlaceKind(found.kind), PlaceId(key.place), title=found.title)
        move(tx, key, new, where, now=now)


def current(conn: sa.Connection, key: PlaceKey) -> str:
    """Return the place's present id, following its moves."""
    return _walk(conn, key, place.c.moved_to)[-1]


def first(conn: sa.Connection, key: PlaceKey) -> str:
    """Return the place's first id, which stays the same over its moves."""
    return _walk(conn, key, place.c.moved_from)[-1]


def ids(conn: sa.Connection, key: PlaceKey) -> frozenset[str]:
    """Return every id of the place, earlier and later ones.

    So a list that names the old one keeps working, and so does a late message from there.
    """
    earlier, later = _walk(conn, key, place.c.moved_from), _walk(conn, key, place.c.moved_to)
    return frozenset((*earlier, *later))


def _walk(conn: sa.Connection, key: PlaceKey, step: sa.Column[str]) -> list[str]:
    """Return the place's id and those that ``step`` leads to, up to the end or to a loop."""
    known = [key.place]
    while True:
        here = key._replace(place=known[-1])
        following = conn.execute(sa.select(step).where(_is(here))).scalar()
        if following is None or following in known:
            return known
        known.append(following)


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
        .order_by(conversation.c.created_at, conversation.c.key)
        .limit(1)
    )
    return conn.execute(statement).scalar() or key.place
