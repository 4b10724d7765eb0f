"""How SQL runs: a transaction that tells when it is committed, and what every store can do.

``Store.write`` takes a plain function, never a coroutine: on SQLite it runs in the one writer
thread, inside a group commit, so it must be short and must not wait for anything.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import sqlalchemy as sa

from gateway.model.errors import ConfigurationError, StoreBusyError, StoreError

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

#: what reads get; so named here that layers above need not know whose it is
Connection = sa.Connection

#: SQLite's and PostgreSQL's words for "somebody else holds a lock on that"
_BUSY = ("database is locked", "database table is locked", "lock timeout", "canceling statement")


@dataclass(slots=True)
class Tx:
    """An open transaction. ``on_commit`` callbacks run in the event loop, after the commit."""

    conn: sa.Connection
    callbacks: list[Callable[[], None]] = field(default_factory=list)

    def on_commit(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` once this transaction is durable; never when it is rolled back."""
        self.callbacks.append(callback)


class Store(ABC):
    """A database with one schema. Reads see committed rows; writes are whole or nothing."""

    engine: sa.Engine

    @abstractmethod
    async def write(self, fn: Callable[[Tx], T], *, durable: bool = False) -> T:
        """Run ``fn`` in a transaction and return its result once it is committed.

        ``durable`` asks that the commit survive a power cut before this returns (inbound rows
        need it; all that follows can be done again). Cancelling the caller does not undo it.
        Raises what ``fn`` raised, or ``StoreError`` when the database refused.
        """

    @abstractmethod
    async def read(self, fn: Callable[[sa.Connection], T]) -> T:
        """Run ``fn`` on a connection that cannot write and return its result."""

    @abstractmethod
    async def close(self) -> None:
        """Finish what was handed in and release the connections."""


def translate(error: sa.exc.SQLAlchemyError) -> StoreError:
    """Return the ``StoreError`` for a driver's error; its text holds no statement parameters."""
    cause = str(getattr(error, "orig", error) or error)
    if any(word in cause for word in _BUSY):
        return StoreBusyError("another program holds the database's write lock; will try again")
    return StoreError(f"the database refused: {cause.splitlines()[0] if cause else error.code}")


class PostgresStore(Store):
    """PostgreSQL for several processes: short synchronous transactions in a thread pool."""

    def __init__(self, url: str, *, pool_size: int = 8) -> None:
        self.engine = sa.create_engine(
            _psycopg_url(url), pool_size=pool_size, max_overflow=0, pool_pre_ping=True
        )
        self._threads = ThreadPoolExecutor(pool_size, thread_name_prefix="store")

    async def write(self, fn: Callable[[Tx], T], *, durable: bool = False) -> T:
        """See ``Store.write``; PostgreSQL's commits are durable anyway."""

        def transaction() -> tuple[T, list[Callable[[], None]]]:
            with self.engine.begin() as conn:
                tx = Tx(conn)
                return fn(tx), tx.callbacks

        result, callbacks = await self._in_thread(transaction)
        for callback in callbacks:
            callback()
        return result

    async def read(self, fn: Callable[[sa.Connection], T]) -> T:
        """See ``Store.read``."""

        def snapshot() -> T:
            with self.engine.connect() as conn, conn.begin():
                conn.execute(sa.text("SET TRANSACTION READ ONLY"))
                return fn(conn)

        return await self._in_thread(snapshot)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        except sa.exc.SQLAlchemyError as error:
            raise translate(error) from error

    async def close(self) -> None:
        """See ``Store.close``."""
        await asyncio.to_thread(self._threads.shutdown)
        self.engine.dispose()


def _psycopg_url(url: str) -> sa.URL:
    try:
        parsed = sa.make_url(url)
    except sa.exc.ArgumentError as error:
        raise ConfigurationError("store.url: not a database address") from error
    if not parsed.drivername.startswith("postgres"):
        raise ConfigurationError(
            f"store.url: {parsed.drivername} is not supported; use postgresql://… or leave it out"
        )
    return parsed.set(drivername="postgresql+psycopg")
