"""One writer thread: what waits is committed together, and flushed when it has to be."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest
import sqlalchemy as sa

from gateway.model.errors import StoreError
from gateway.store.sqlite import GROUP, SqliteStore
from tests.integration.store.conftest import names, opened, put

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from gateway.store.engine import Tx

NORMAL, FULL = 1, 2


@asynccontextmanager
async def held(store: SqliteStore) -> AsyncIterator[None]:
    """Keep the writer busy, so that what is handed in meanwhile waits for it."""
    entered, leave = threading.Event(), threading.Event()

    def fn(_: Tx) -> None:
        entered.set()
        leave.wait(5)

    holding = asyncio.create_task(store.write(fn))
    await asyncio.to_thread(entered.wait)
    yield
    await asyncio.sleep(0)
    leave.set()
    await holding


def level(tx: Tx) -> int:
    """Return how the present commit will be flushed."""
    return int(tx.conn.exec_driver_sql("PRAGMA synchronous").scalar_one())


async def test_what_waits_shares_a_commit(store: SqliteStore) -> None:
    commits: list[sa.Connection] = []
    sa.event.listen(store.engine, "commit", commits.append)
    async with held(store):
        writes = [asyncio.create_task(store.write(put(f"{n:03}"))) for n in range(GROUP + 10)]
    assert await asyncio.gather(*writes) == [f"{n:03}" for n in range(GROUP + 10)]
    assert len(commits) == 3
    assert len(await names(store)) == GROUP + 10


async def test_only_what_must_survive_a_power_cut_is_flushed(store: SqliteStore) -> None:
    alone = [await store.write(level, durable=durable) for durable in (False, True, False, True)]
    assert alone == [NORMAL, FULL, NORMAL, FULL]
    async with held(store):
        together = [
            asyncio.create_task(store.write(level, durable=durable))
            for durable in (False, True, False)
        ]
    assert await asyncio.gather(*together) == [FULL, FULL, FULL]


async def test_every_connection_is_set_up(store: SqliteStore) -> None:
    pragmas = ("journal_mode", "foreign_keys", "busy_timeout", "temp_store", "query_only")

    def settings(conn: sa.Connection) -> list[object]:
        return [conn.exec_driver_sql(f"PRAGMA {each}").scalar() for each in pragmas]

    assert await store.write(lambda tx: settings(tx.conn)) == ["wal", 1, 100, 2, 0]
    assert await store.read(settings) == ["wal", 1, 100, 2, 1]


async def test_what_sqlite_gave_up_is_not_called_committed(store: SqliteStore) -> None:
    """A statement may end the whole transaction: then nobody in the group was saved."""

    def gives_up(tx: Tx) -> None:
        for _ in range(2):
            tx.conn.exec_driver_sql(
                "INSERT OR ROLLBACK INTO fact VALUES ('twice', '', '2026-11-29 12:00:00.000000')"
            )

    async with held(store):
        writes = [
            asyncio.create_task(store.write(fn)) for fn in (put("before"), gives_up, put("after"))
        ]
    results = await asyncio.gather(*writes, return_exceptions=True)
    assert [type(result) for result in results] == [StoreError] * 3
    assert await names(store) == []
    assert await store.write(put("next")) == "next"


async def test_a_full_disk_is_said_and_then_forgotten(store: SqliteStore) -> None:
    """H-58: a visible error, nothing half-saved, and the next write tries again."""

    def shrink(tx: Tx) -> None:
        pages = tx.conn.exec_driver_sql("PRAGMA page_count").scalar_one()
        tx.conn.exec_driver_sql(f"PRAGMA max_page_count={pages + 2}")

    await store.write(shrink)
    with pytest.raises(StoreError, match="full"):
        await store.write(put("big", "x" * 100_000))
    assert await names(store) == []
    await store.write(lambda tx: tx.conn.exec_driver_sql("PRAGMA max_page_count=1000000"))
    assert await store.write(put("big", "x" * 100_000)) == "big"


async def test_a_driver_error_outside_any_statement_does_not_stop_the_writer(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(*_: object) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    with monkeypatch.context() as patch:
        patch.setattr(store, "_set_synchronous", breaks)
        with pytest.raises(StoreError, match="disk I/O error"):
            await store.write(put("a"))
    assert await store.write(put("b")) == "b"


async def test_a_loop_that_ended_takes_nobody_along(store: SqliteStore) -> None:
    entered, leave = threading.Event(), threading.Event()

    def fn(tx: Tx) -> None:
        entered.set()
        leave.wait(5)
        put("a")(tx)

    async def hand_in() -> None:
        writing = asyncio.create_task(store.write(fn))
        await asyncio.to_thread(entered.wait)
        writing.cancel()

    await asyncio.to_thread(asyncio.run, hand_in())
    leave.set()
    assert await store.write(put("b")) == "b"
    assert await names(store) == ["a", "b"]


async def test_writers_of_two_loops_get_their_own_results(store: SqliteStore) -> None:
    async with held(store):
        ours = asyncio.create_task(store.write(put("ours")))
        await asyncio.sleep(0)
        theirs = asyncio.create_task(asyncio.to_thread(asyncio.run, store.write(put("theirs"))))
    assert (await ours, await theirs) == ("ours", "theirs")


@pytest.mark.parametrize("name", ["a b", "a?b=c", "a#b", "a%20b", "домой", "file:a", ":memory:"])
async def test_every_path_means_the_file_of_that_name(folder: Path, name: str) -> None:
    home = folder / name
    home.mkdir()
    async with opened(home / "gateway?mode=ro.db") as store:
        await store.write(put("a"))
    assert os.listdir(home) == ["gateway?mode=ro.db"]
    assert os.listdir(folder) == [name]
    async with opened(home / "gateway?mode=ro.db") as store:
        assert await names(store) == ["a"]
