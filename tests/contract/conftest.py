"""Databases for the suites that both dialects must pass."""

from __future__ import annotations

import itertools
import os
import shutil
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import psycopg
import pytest
import sqlalchemy as sa

# these tables belong to the schema
import gateway.memory.embedded.tables
import gateway.store.audit_tables
import gateway.store.erasure_tables
import gateway.store.link_tables
import gateway.store.note_tables
import gateway.store.people_tables
import gateway.store.questions
import gateway.store.web_keys  # noqa: F401
from gateway.store import migrate
from gateway.store.engine import PostgresStore
from gateway.store.sqlite import SqliteStore
from gateway.store.tables import metadata
from tests.contract import postgres

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from gateway.store.engine import Store

BOTH = ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]
_numbers = itertools.count()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """Address of a server, of a user who may create databases."""
    with postgres.server() as url:
        yield url


def create_database(server: str, *, template: str = "template0") -> sa.URL:
    """Create a database of our own and return its address."""
    name = f"gateway_test_{os.getpid()}_{next(_numbers)}"
    with psycopg.connect(server, autocommit=True) as conn:
        conn.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
    return sa.make_url(server).set(database=name)


def drop_database(server: str, url: sa.URL) -> None:
    """Drop a database, whoever is still connected."""
    with psycopg.connect(server, autocommit=True) as conn:
        conn.execute(f'DROP DATABASE "{url.database}" WITH (FORCE)')


def text(url: sa.URL) -> str:
    """Return an address with its password."""
    return url.render_as_string(hide_password=False)


@pytest.fixture(scope="session")
def postgres_template(postgres_server: str) -> Iterator[str]:
    """Name of a database with the present schema, to copy from."""
    url = create_database(postgres_server)
    engine = PostgresStore(text(url)).engine
    migrate.upgrade(engine)
    engine.dispose()
    yield str(url.database)
    drop_database(postgres_server, url)


@pytest.fixture(scope="module")
def postgres_url(postgres_server: str, postgres_template: str) -> Iterator[str]:
    """Address of a database with the present schema: one for each module."""
    url = create_database(postgres_server, template=postgres_template)
    yield text(url)
    drop_database(postgres_server, url)


@pytest.fixture
def empty_postgres(postgres_server: str) -> Iterator[str]:
    """Address of a database without any tables."""
    url = create_database(postgres_server)
    yield text(url)
    drop_database(postgres_server, url)


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with the present schema, to copy from."""
    path = tmp_path_factory.mktemp("template") / "gateway.db"
    with closing(sqlite3.connect(path)) as raw:  # as the store makes a new file
        raw.execute("PRAGMA auto_vacuum=INCREMENTAL")
        raw.execute("PRAGMA journal_mode=WAL")
    engine = sa.create_engine(f"sqlite:///{path}")
    migrate.upgrade(engine)
    engine.dispose()
    return path


@pytest.fixture(params=BOTH)
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    """A store of each dialect with the present schema and no rows."""
    store: Store
    if request.param == "sqlite":
        path = tmp_path / "gateway.db"
        shutil.copy(request.getfixturevalue("sqlite_template"), path)
        store = SqliteStore(path)
    else:
        store = PostgresStore(request.getfixturevalue("postgres_url"), pool_size=4)
        _empty(store)
    yield store
    await store.close()


def _empty(store: Store) -> None:
    with store.engine.begin() as conn:
        there = set(sa.inspect(conn).get_table_names())
        tables = [each.name for each in reversed(metadata.sorted_tables)] + ["search_index"]
        statements = [f'DELETE FROM "{each}"' for each in tables if each in there]
        conn.exec_driver_sql("; ".join(statements))
