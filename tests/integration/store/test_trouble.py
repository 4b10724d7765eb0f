"""A locked, read-only, deleted or foreign file is said, and is over when it is over (H-58)."""

from __future__ import annotations

import asyncio
import os
import stat
import time
from typing import TYPE_CHECKING

import pytest

from gateway.model.errors import StoreBusyError, StoreError
from gateway.store import readonly
from gateway.store.sqlite import SqliteStore
from tests.integration.store.conftest import locked, names, opened, put, unprivileged

if TYPE_CHECKING:
    from pathlib import Path

#: seconds that somebody else holds the lock, as a public report has it
HELD = 0.5


async def ticks(until: asyncio.Future[list[str]]) -> int:
    """Count how often another coroutine gets its turn until then."""
    count = 0
    while not until.done():
        await asyncio.sleep(0.005)
        count += 1
    return count


async def test_a_short_lock_of_others_is_waited_out(folder: Path) -> None:
    async with opened(folder / "gateway.db", busy_timeout=10) as store:
        with locked(store.path):
            started = time.monotonic()
            writing = asyncio.gather(*(store.write(put(name)) for name in "abc"))
            waiting = asyncio.create_task(ticks(writing))
            await asyncio.sleep(HELD)
            assert not writing.done()
            assert await names(store) == []  # reading goes on
        assert await writing == ["a", "b", "c"]
        assert time.monotonic() - started >= HELD
        assert await waiting >= HELD / 0.005 / 4  # so does everything else
        assert await names(store) == ["a", "b", "c"]


async def test_a_long_lock_is_an_error_and_the_next_write_tries_again(store: SqliteStore) -> None:
    with locked(store.path):
        writes = (store.write(put(name), durable=name == "b") for name in "ab")
        results = await asyncio.gather(*writes, return_exceptions=True)
        assert [type(result) for result in results] == [StoreBusyError, StoreBusyError]
    assert await store.write(put("c")) == "c"
    assert await names(store) == ["c"]


async def test_two_stores_share_a_file(store: SqliteStore) -> None:
    async with opened(store.path, busy_timeout=10) as other:
        writes = [(store, other)[n % 2].write(put(f"{n:02}")) for n in range(50)]
        await asyncio.gather(*writes)
        assert await names(other) == [f"{n:02}" for n in range(50)]


@pytest.mark.parametrize("replaced", [False, True])
async def test_a_file_that_went_away_is_missed(store: SqliteStore, replaced: bool) -> None:
    await store.write(put("a"))
    aside = store.path.with_suffix(".aside")
    store.path.rename(aside)
    if replaced:
        store.path.touch()
    with pytest.raises(StoreError, match="deleted or replaced while in use; stop the gateway"):
        await store.write(put("b"))
    aside.rename(store.path)
    assert await store.write(put("c")) == "c"
    assert await names(store) == ["a", "c"]


async def test_a_folder_that_cannot_be_looked_into_does_not_stop_the_writer(
    folder: Path,
) -> None:
    home = folder / "home"
    home.mkdir(mode=0o755)
    async with opened(home / "gateway.db") as store:
        await store.write(put("a"))
        home.chmod(0o000)
        with unprivileged(), pytest.raises(StoreError, match="deleted or replaced"):
            await store.write(put("b"))
        home.chmod(0o755)
        assert await store.write(put("c")) == "c"


async def _write_once(path: Path) -> None:
    store = SqliteStore(path)
    try:
        await store.write(put("b"))
    finally:
        await store.close()


@pytest.mark.parametrize(
    ("folder_mode", "file_mode"), [(0o555, 0o666), (0o777, 0o444)], ids=["folder", "file"]
)
async def test_what_may_not_be_written_is_said(
    folder: Path, folder_mode: int, file_mode: int
) -> None:
    home = folder / "home"
    home.mkdir()
    path = home / "gateway.db"
    async with opened(path) as store:
        await store.write(put("a"))
    path.chmod(file_mode)
    home.chmod(folder_mode)
    with unprivileged(), pytest.raises(StoreError) as caught:
        await _write_once(path)
    assert not isinstance(caught.value, StoreBusyError)
    async with opened(path) as store:
        assert await names(store) == ["a"]


async def test_a_new_file_in_a_folder_without_rights(folder: Path) -> None:
    home = folder / "home"
    home.mkdir(mode=0o555)
    with unprivileged(), pytest.raises(StoreError, match=r"cannot open the database .*denied"):
        SqliteStore(home / "gateway.db")


@pytest.mark.parametrize(
    ("name", "fault"),
    [("text.db", "not a database"), ("folder", "unable to open"), ("none/gateway.db", "No such")],
)
def test_what_is_no_database_cannot_be_opened(folder: Path, name: str, fault: str) -> None:
    (folder / "text.db").write_text("This is no database, whatever it is called. " * 30)
    (folder / "folder").mkdir()
    with pytest.raises(StoreError, match=f"cannot open the database .*{name}.*{fault}"):
        SqliteStore(folder / name)
    assert (folder / "text.db").read_text().startswith("This is no database")


async def test_files_are_for_their_owner_only(folder: Path) -> None:
    before = os.umask(0)
    try:
        async with opened(folder / "gateway.db") as store:
            await store.write(put("a"), durable=True)
            modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in os.scandir(folder)}
    finally:
        os.umask(before)
    assert modes == {"gateway.db": 0o600, "gateway.db-shm": 0o600, "gateway.db-wal": 0o600}


async def test_looking_from_outside_changes_nothing(store: SqliteStore) -> None:
    await store.write(put("a"))
    with readonly.look(store.path) as conn:
        assert (readonly.damage(conn), readonly.revision(conn)) == (None, None)
        assert readonly.attention(conn) == {"unknown": 0, "aside": 0, "dead": 0, "admins": 0}
        with pytest.raises(StoreError), readonly.look(store.path) as other:
            other.exec_driver_sql("DELETE FROM fact")
    assert await names(store) == ["a"]


async def test_looking_works_for_every_path_and_makes_no_file(folder: Path) -> None:
    path = folder / "a?b #c%20.db"
    with pytest.raises(StoreError, match="unable to open"), readonly.look(path):
        pytest.fail("there is nothing to look into")
    assert os.listdir(folder) == []
    async with opened(path):
        with readonly.look(path) as conn:
            assert readonly.accounts(conn) == []
