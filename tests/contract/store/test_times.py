"""Times: exact, aware, and those that an earlier version had written as texts."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING

import pytest
import sqlalchemy as sa

from gateway.store import audit, facts, migrate
from gateway.store.sqlite import SqliteStore
from gateway.store.tables import fact
from tests.contract.store.samples import NOW

if TYPE_CHECKING:
    from pathlib import Path

    from gateway.store.engine import Store, Tx

TIMES = [
    NOW,
    datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
    datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
    datetime(2026, 10, 25, 2, 30, tzinfo=timezone(timedelta(hours=2))),
]


@pytest.mark.parametrize("time", TIMES)
async def test_a_time_comes_back_as_it_was(store: Store, time: datetime) -> None:
    await store.write(lambda tx: facts.put(tx, "a", "1", now=time))
    [found] = await store.read(lambda conn: conn.execute(sa.select(fact.c.updated_at)).scalars())
    assert (found, found.utcoffset()) == (time, timedelta(0))


async def test_times_compare_as_times(store: Store) -> None:
    def fill(tx: Tx) -> None:
        for number, time in enumerate(TIMES):
            facts.put(tx, str(number), "", now=time)

    await store.write(fill)
    ordered = sa.select(fact.c.updated_at).order_by(fact.c.updated_at)
    found = await store.read(lambda conn: list(conn.execute(ordered).scalars()))
    assert found == sorted(TIMES)
    newest = sa.select(sa.func.max(fact.c.updated_at))
    assert await store.read(lambda conn: conn.execute(newest).scalar()) == max(TIMES)


async def test_texts_of_an_earlier_version_are_converted_and_guards_stay(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "gateway.db")
    migrate.upgrade(store.engine)
    await store.write(lambda tx: facts.put(tx, "a", "1", now=NOW))
    await store.write(lambda tx: audit.record(tx, "x.y", actor="cli", now=NOW))
    migrate.downgrade(store.engine, BEFORE)
    old = await store.read(lambda c: c.execute(sa.text("SELECT updated_at FROM fact")).scalar())
    assert old == "2026-11-29 12:00:00.123456"
    migrate.upgrade(store.engine)
    kept = sa.text("SELECT updated_at, at FROM fact, audit")
    row = await store.read(lambda conn: conn.execute(kept).one())
    micros = int(NOW.timestamp()) * 1_000_000 + NOW.microsecond
    assert tuple(row) == (micros, micros)
    verdict = await store.read(audit.check)
    assert (verdict.problem, verdict.rows) == ("", 1)
    with pytest.raises(Exception, match="audit"):
        await store.write(lambda tx: tx.conn.execute(sa.text("UPDATE audit SET actor = 'x'")))
    await store.close()


[_MIGRATION] = (migrate.MIGRATIONS / "versions").glob("*_times.py")
BEFORE = re.findall(r'^down_revision = "(\d+)"', _MIGRATION.read_text(), re.MULTILINE)[0]
