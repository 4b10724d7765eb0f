"""A place keeps its conversations when it gets a new id, whatever the order of the news (H-28)."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pytest
import sqlalchemy as sa

from gateway.model.events import Place, PlaceKind
from gateway.model.ids import ConversationKey, PlaceId
from gateway.store import places, sessions
from gateway.store.places import PlaceKey
from gateway.store.tables import place
from tests.contract.store.samples import NOW, event, later

if TYPE_CHECKING:
    from datetime import datetime

    from gateway.store.engine import Store, Tx

GROUP = Place(PlaceKind.GROUP, PlaceId("-4455667"), title="Family")
OLD, NEW, NEWEST = (
    PlaceKey("telegram", "111", name) for name in ("-4455667", "-1005550004444", "-1007")
)
MOVES = [(OLD, NEW), (NEW, NEWEST)]


def _move(tx: Tx, moves: list[tuple[PlaceKey, PlaceKey]]) -> list[bool]:
    return [places.move(tx, old, new.place, GROUP, now=later(9)) for old, new in moves]


def _talk(tx: Tx, key: PlaceKey, at: datetime) -> None:
    new = event(place=key.place, account=key.account)
    sessions.note(tx, ConversationKey(f"in {key.place}"), new, participant=None, now=at)


async def test_signs_of_life(store: Store) -> None:
    def fn(tx: Tx) -> list[bool]:
        known = [places.unreachable(tx.conn, OLD)]
        places.seen(tx, OLD, GROUP, message="1", now=NOW)
        places.mark_unreachable(tx, OLD, now=later(1))
        known.append(places.unreachable(tx.conn, OLD))
        places.mark_reachable(tx, OLD)
        known.append(places.unreachable(tx.conn, OLD))
        places.mark_unreachable(tx, OLD, now=later(1))
        places.seen(tx, OLD, replace(GROUP, title="Home"), message="2", now=later(2))
        return [*known, places.unreachable(tx.conn, OLD)]

    assert await store.write(fn) == [False, True, False, False]
    row = await store.read(lambda conn: conn.execute(sa.select(place)).one())
    assert (row.title, row.last_message, row.last_seen, row.kind) == (
        "Home",
        "2",
        later(2),
        "group",
    )


@pytest.mark.parametrize("moves", sorted(set(itertools.permutations(MOVES * 2))))
async def test_moves_in_any_order_and_twice(
    store: Store, moves: tuple[tuple[PlaceKey, PlaceKey], ...]
) -> None:
    def fn(tx: Tx) -> list[bool]:
        _talk(tx, OLD, NOW)
        return _move(tx, list(moves))

    assert sorted(await store.write(fn)) == [False, False, True, True]
    every = {OLD.place, NEW.place, NEWEST.place}
    for key in (OLD, NEW, NEWEST):
        assert await store.read(partial(places.current, key=key)) == NEWEST.place
        assert await store.read(partial(places.ids, key=key)) == every
        assert await store.read(partial(places.origin, key=key)) == OLD.place
        assert await store.read(partial(places.first, key=key)) == OLD.place


async def test_a_move_keeps_what_was_known(store: Store) -> None:
    def fn(tx: Tx) -> None:
        places.seen(tx, OLD, GROUP, message="7", now=NOW)
        places.seen(tx, NEW, GROUP, message="8", now=NOW)
        _move(tx, [(OLD, NEW)])

    await store.write(fn)
    rows = await store.read(
        lambda conn: conn.execute(sa.select(place).order_by(place.c.last_message)).all()
    )
    assert [(row.place, row.last_message, row.moved_to, row.moved_from) for row in rows] == [
        (OLD.place, "7", NEW.place, None),
        (NEW.place, "8", None, OLD.place),
    ]


async def test_a_place_that_never_moved(store: Store) -> None:
    assert await store.read(lambda conn: places.current(conn, OLD)) == OLD.place
    assert await store.read(lambda conn: places.ids(conn, OLD)) == {OLD.place}
    assert await store.read(lambda conn: places.origin(conn, OLD)) == OLD.place


async def test_another_bot_or_platform_does_not_move_along(store: Store) -> None:
    await store.write(lambda tx: _move(tx, [(OLD, NEW)]))
    for other in (OLD._replace(account="222"), OLD._replace(platform="discord")):
        assert await store.read(partial(places.current, key=other)) == OLD.place
        assert await store.read(partial(places.ids, key=other)) == {OLD.place}


@pytest.mark.parametrize("loop", [[(OLD, OLD)], [(OLD, NEW), (NEW, OLD)]], ids=["self", "back"])
async def test_a_loop_ends(store: Store, loop: list[tuple[PlaceKey, PlaceKey]]) -> None:
    await store.write(lambda tx: _move(tx, loop))
    every = {key.place for move in loop for key in move}
    assert await store.read(lambda conn: places.ids(conn, OLD)) == every
    assert await store.read(lambda conn: places.current(conn, OLD)) in every


async def test_the_first_conversation_names_the_place(store: Store) -> None:
    def fn(tx: Tx) -> None:
        _talk(tx, NEW, later(1))
        _talk(tx, OLD, NOW)
        _move(tx, [(OLD, NEW)])
        _talk(tx, NEWEST, later(2))

    await store.write(fn)
    assert await store.read(lambda conn: places.origin(conn, NEW)) == OLD.place
    assert await store.read(lambda conn: places.origin(conn, NEWEST)) == NEWEST.place


async def test_a_group_that_first_spoke_under_its_new_id(store: Store) -> None:
    """A message that was under way from the old id joins that conversation."""

    def fn(tx: Tx) -> None:
        _move(tx, [(OLD, NEW)])
        _talk(tx, NEW, NOW)

    await store.write(fn)
    assert await store.read(lambda conn: places.origin(conn, OLD)) == NEW.place
