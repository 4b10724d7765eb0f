"""Sessions by number: databases of an earlier version come over whole, and go back."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
import sqlalchemy as sa

from gateway.model.errors import StoreError
from gateway.model.ids import PeerId, SessionId
from gateway.store import homes, ledger, migrate, search, sending, turns
from gateway.store.homes import HomeState
from gateway.store.tables import metadata, session
from tests.contract.store import samples
from tests.contract.store.samples import CONVERSATION, NOW, SESSION
from tests.contract.store.talk import MIRA, Talk

if TYPE_CHECKING:
    from gateway.store.engine import Connection, Store, Tx

[_MIGRATION] = (migrate.MIGRATIONS / "versions").glob("*_numbered_sessions.py")
BEFORE = re.findall(r'^down_revision = "(\d+)"', _MIGRATION.read_text(), re.MULTILINE)[0]
OTHER = SessionId("other")


def _all(conn: Connection) -> dict[str, list[tuple[Any, ...]]]:
    """Return every row of every table."""
    return {
        table.name: sorted(map(tuple, conn.execute(sa.select(table))), key=repr)
        for table in metadata.sorted_tables
    }


def _raw(conn: Connection, sql: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in conn.execute(sa.text(sql))]


async def _filled(store: Store) -> None:
    """Two sessions with turns, checkpoints and ledger rows; a word that waits; a further home."""
    talk = await Talk(store).open()
    await talk.say("The otter is back", answer="Lovely!")
    await talk.say("An otter of mine", answer="Fine", peer="tobias")

    def more(tx: Tx) -> None:
        samples.say(tx, "waits for its turn")
        samples.claim(tx, samples.turn("t_9", session=OTHER))
        said = samples.say(tx, "next", session=OTHER, turn="t_9")
        ledger.add(tx, ledger.Entry(OTHER, PeerId("mira"), said), ledger.LedgerState.DUE, now=NOW)
        homes.add(tx, SESSION, SESSION, {}, state=HomeState.ACTIVE, part_limit=9, now=NOW)

    await store.write(more)


async def test_a_database_goes_back_and_comes_over_whole(store: Store) -> None:
    await _filled(store)
    before = await store.read(_all)
    keys = [row.key for row in await store.read(partial(sending.open_rows, name=OTHER, limit=9))]
    migrate.downgrade(store.engine, BEFORE)
    try:
        names = "SELECT session, conversation FROM turn ORDER BY id"
        said = "SELECT session, conversation FROM message WHERE turn IS NULL"
        kept = f"SELECT \"key\", turn, role FROM ledger WHERE session = '{OTHER}'"
        old = [await store.read(partial(_raw, sql=sql)) for sql in (names, said, kept)]
        assert old[0] == [
            *[(SESSION, CONVERSATION)] * 2,
            (OTHER, CONVERSATION),
        ]
        assert old[1] == [(None, "")]
        assert old[2] == [(keys[0], "t_9", "user")]
    finally:
        migrate.upgrade(store.engine)
    assert await store.read(_all) == before
    assert await store.read(lambda conn: search.check(conn)) == search.Report(4, 0, 0)
    assert await Talk(store).find("otter", MIRA) == ["The otter is back"]


async def test_turns_of_a_session_that_is_gone_are_kept(store: Store) -> None:
    await store.write(lambda tx: samples.claim(tx, samples.turn()))
    migrate.downgrade(store.engine, BEFORE)
    try:
        await store.write(lambda tx: tx.conn.execute(sa.text("DELETE FROM session")))
    finally:
        migrate.upgrade(store.engine)
    assert await store.read(partial(turns.load, turn_id=samples.TURN)) == samples.turn()


async def test_a_number_is_never_given_out_again(store: Store) -> None:
    """What might still name it must not become another person's."""
    await store.write(samples.open_session)
    newest = sa.select(sa.func.max(session.c.number))
    first = await store.read(lambda conn: conn.execute(newest).scalar_one())
    await store.write(lambda tx: tx.conn.execute(sa.delete(session)))
    await store.write(lambda tx: samples.claim(tx, samples.turn()))
    assert await store.read(lambda conn: conn.execute(newest).scalar_one()) > first


async def test_a_session_with_turns_cannot_go_without_them(store: Store) -> None:
    await store.write(lambda tx: samples.claim(tx, samples.turn()))
    with pytest.raises(StoreError):
        await store.write(lambda tx: tx.conn.execute(sa.delete(session)))
