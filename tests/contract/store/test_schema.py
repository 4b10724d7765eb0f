"""The migrations build what the tables say, on both dialects, whole or not at all."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from gateway.model.errors import StoreBusyError, StoreError
from gateway.store import migrate
from gateway.store.engine import PostgresStore
from gateway.store.sqlite import SqliteStore
from gateway.store.tables import metadata
from tests.contract.conftest import BOTH

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from gateway.store.engine import Store


@pytest.fixture
def patience() -> float:
    """Seconds that ``empty`` waits for a lock."""
    return 10.0


@pytest.fixture(params=BOTH)
async def empty(
    request: pytest.FixtureRequest, tmp_path: Path, patience: float
) -> AsyncIterator[Store]:
    """A store of each dialect without any tables."""
    store: Store
    if request.param == "sqlite":
        store = SqliteStore(tmp_path / "gateway.db", busy_timeout=patience)
    else:
        store = PostgresStore(request.getfixturevalue("empty_postgres"), busy_timeout=patience)
    yield store
    await store.close()


def _tables(engine: sa.Engine) -> set[str]:
    with engine.connect() as conn:
        return {name for name in sa.inspect(conn).get_table_names() if not _index(name)}


def _index(name: str | None) -> bool:
    """Tell whether a table is the full-text index, which each dialect has in its own way."""
    return str(name).startswith("search_index")


def test_up_down_and_up_again(empty: Store) -> None:
    ours = {table.name for table in metadata.sorted_tables}
    assert migrate.current(empty.engine) is None
    assert migrate.upgrade(empty.engine) == (None, migrate.HEAD)
    assert migrate.upgrade(empty.engine) == (migrate.HEAD, migrate.HEAD)
    assert _tables(empty.engine) == ours | {"alembic_version"}
    migrate.downgrade(empty.engine, "base")
    assert _tables(empty.engine) == {"alembic_version"}
    assert migrate.current(empty.engine) is None
    assert migrate.upgrade(empty.engine) == (None, migrate.HEAD)
    assert _tables(empty.engine) == ours | {"alembic_version"}


def test_the_migrations_build_what_the_tables_say(store: Store) -> None:
    # Alembic takes SQLite's DEFAULT '' for a difference; the one migration is seen on PostgreSQL.
    defaults = store.engine.dialect.name == "postgresql"
    with store.engine.connect() as conn:
        context = MigrationContext.configure(
            conn,
            opts={
                "compare_type": True,
                "compare_server_default": defaults,
                "include_name": lambda name, kind, _: kind != "table" or not _index(name),
            },
        )
        assert compare_metadata(context, metadata) == []


def test_a_migration_that_fails_leaves_nothing(empty: Store) -> None:
    with empty.engine.begin() as conn:
        conn.execute(sa.text("CREATE TABLE turn_step (other INTEGER)"))
    with pytest.raises(StoreError, match="turn_step"):
        migrate.upgrade(empty.engine)
    assert _tables(empty.engine) == {"turn_step"}


def test_rows_that_hang_in_the_air_stop_a_migration(tmp_path: Path) -> None:
    """SQLite alone: foreign keys of PostgreSQL are never switched off."""
    engine = SqliteStore(tmp_path / "gateway.db").engine
    migrate.upgrade(engine)
    migrate.downgrade(engine, "0016")
    with engine.connect() as conn:
        raw = conn.connection.driver_connection
        assert raw is not None
        raw.execute("PRAGMA foreign_keys=OFF")
        raw.execute("INSERT INTO turn_step (turn, ordinal, step) VALUES ('t_none', 1, '{}')")
        raw.execute("PRAGMA foreign_keys=ON")
    with pytest.raises(StoreError, match="nothing was changed: use the version that wrote"):
        migrate.upgrade(engine)
    assert migrate.current(engine) == "0016"
    engine.dispose()


def test_a_database_of_a_newer_version_is_left_alone(store: Store) -> None:
    with store.engine.begin() as conn:
        conn.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    try:
        with pytest.raises(StoreError, match="revision 9999, which this version does not know"):
            migrate.upgrade(store.engine)
    finally:
        with store.engine.begin() as conn:
            back = sa.text("UPDATE alembic_version SET version_num = :v")
            conn.execute(back, {"v": migrate.HEAD})


def test_processes_that_start_together_migrate_once(empty: Store) -> None:
    with ThreadPoolExecutor(2) as threads:
        done = list(threads.map(migrate.upgrade, (empty.engine, empty.engine)))
    assert {after for _, after in done} == {migrate.HEAD}
    assert "turn_step" in _tables(empty.engine)


@pytest.mark.parametrize("patience", [0.1])
async def test_a_locked_database_is_said_to_be_locked(empty: Store) -> None:
    other = sa.create_engine(empty.engine.url)
    with other.connect() as holder:
        if empty.engine.dialect.name == "sqlite":
            holder.exec_driver_sql("BEGIN IMMEDIATE")
        else:
            key = sa.text("SELECT pg_advisory_lock(hashtext('hermes-gateway migrate'))")
            holder.execute(key)
        with pytest.raises(StoreBusyError):
            migrate.upgrade(empty.engine)
    other.dispose()
    assert migrate.upgrade(empty.engine) == (None, migrate.HEAD)
