"""A real file with the present schema, and somebody else who uses it too."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gateway.store import facts
from gateway.store.sqlite import SqliteStore
from gateway.store.tables import metadata
from tests.fakes.clock import START

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from gateway.store.engine import Tx

#: has no rights but everybody's
NOBODY = 65534


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that everybody may enter and use."""
    made = Path(tempfile.mkdtemp(prefix="store"))
    made.chmod(0o777)
    yield made
    shutil.rmtree(made)


@pytest.fixture
async def store(folder: Path) -> AsyncIterator[SqliteStore]:
    """A store that waits a moment for others."""
    async with opened(folder / "gateway.db") as store:
        yield store


@asynccontextmanager
async def opened(path: Path, *, busy_timeout: float = 0.1) -> AsyncIterator[SqliteStore]:
    """Open a store and make sure of its tables."""
    store = SqliteStore(path, busy_timeout=busy_timeout)
    metadata.create_all(store.engine)
    yield store
    await store.close()


def put(name: str, value: str = "") -> Callable[[Tx], str]:
    """Return a write of one fact, which returns its name."""

    def fn(tx: Tx) -> str:
        facts.put(tx, name, value, now=START)
        return name

    return fn


async def names(store: SqliteStore) -> list[str]:
    """Return the names of all facts."""
    return await store.read(lambda conn: list(facts.starting_with(conn, "")))


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the write lock, as another program would."""
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        other.execute("ROLLBACK")
        other.close()


@contextmanager
def unprivileged() -> Iterator[None]:
    """Act as somebody whom file permissions stop, which they do not do for root."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
