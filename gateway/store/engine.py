"""How SQL runs: a transaction that tells when it is committed, and what every store can do.

``Store.write`` takes a plain function, never a coroutine: on SQLite it runs in the one writer
thread, inside a group commit, so it must be short and must not wait for anything.
"""

from __future__ import annotations

import asyncio
import sqlite3
from abc import ABC, abstractmethod
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import sqlalchemy as sa

from gateway.model.errors import ConfigurationError, StoreBusyError, StoreError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

T = TypeVar("T")

#: what reads get; so named here that layers above need not know whose it is
Connection = sa.Connection

#: "somebody else holds a lock on that": SQLite's primary codes and PostgreSQL's states for
#: lock_not_available, deadlock_detected and serialization_failure
_BUSY_CODES = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_BUSY_STATES = {"55P03", "40P01", "40001"}

CLOSED = "the database is closed"


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
        """Run ``fn`` on a connection that cannot write and return its result.

        All statements of ``fn`` see the same moment. Raises like ``write``.
        """

    @abstractmethod
    async def compact(self) -> bool:
        """Give up the space of deleted rows, so that nothing of them stays in the files.

        False: somebody else was using the database, so some of it may still be there.
        """

    @abstractmethod
    async def close(self) -> None:
        """Finish what was handed in and release the connections."""


def translate(error: Exception) -> StoreError:
    """Return the ``StoreError`` for a driver's error; its text holds no statement parameters.

    Raise it ``from None``: the driver's own text may hold a row, and so what somebody said.
    """
    cause = getattr(error, "orig", None) or error
    if isinstance(cause, OverflowError):  # SQLite's driver's word; PostgreSQL's says it itself
        return StoreError("the database refused: a number is out of range")
    if _busy(cause):
        return StoreBusyError("another program holds the database's write lock; will try again")
    first, *_ = str(cause).strip().splitlines() or [type(cause).__name__]
    return StoreError(f"the database refused: {first}")


def _busy(cause: Exception) -> bool:
    code: int | None = getattr(cause, "sqlite_errorcode", None)
    if code is not None:
        return code & 0xFF in _BUSY_CODES
    return getattr(cause, "sqlstate", None) in _BUSY_STATES


class PostgresStore(Store):
    """PostgreSQL for several processes: short synchronous transactions in a thread pool."""

    def __init__(self, url: str, *, busy_timeout: float = 10.0, pool_size: int = 8) -> None:
        """Prepare connections to ``url``; nothing is connected yet.

        ``busy_timeout``: seconds to wait for a lock. Raises ``ConfigurationError``.
        """
        self.engine = sa.create_engine(
            _psycopg_url(url),
            pool_size=pool_size,
            max_overflow=0,
            pool_pre_ping=True,
            hide_parameters=True,
        )
        self._threads = ThreadPoolExecutor(pool_size, thread_name_prefix="store")
        self._closed = False

        @sa.event.listens_for(self.engine, "connect")
        def prepare(connection: Any, _record: object) -> None:
            connection.execute(f"SET lock_timeout = {int(busy_timeout * 1000)}")
            connection.commit()

    async def write(self, fn: Callable[[Tx], T], *, durable: bool = False) -> T:
        """See ``Store.write``; PostgreSQL's commits are durable anyway."""
        loop = asyncio.get_running_loop()

        def transaction() -> T:
            with self.engine.begin() as conn:
                tx = Tx(conn)
                result = fn(tx)
            for callback in tx.callbacks:
                loop.call_soon_threadsafe(callback)
            return result

        return await self._in_thread(transaction)

    async def read(self, fn: Callable[[sa.Connection], T]) -> T:
        """See ``Store.read``."""

        def snapshot() -> T:
            with self.engine.connect() as conn, conn.begin():
                conn.execute(sa.text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"))
                return fn(conn)

        return await self._in_thread(snapshot)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        if self._closed:
            raise StoreError(CLOSED)
        running = asyncio.get_running_loop().run_in_executor(self._threads, work)
        try:
            return await asyncio.shield(running)
        except sa.exc.SQLAlchemyError as error:
            raise translate(error) from None

    async def compact(self) -> bool:
        """See ``Store.compact``; what PostgreSQL keeps of old rows ends with its own vacuum."""

        def vacuum() -> None:
            with self.engine.connect() as conn:
                conn.execution_options(isolation_level="AUTOCOMMIT").execute(sa.text("VACUUM"))

        await self._in_thread(vacuum)
        return True

    async def close(self) -> None:
        """See ``Store.close``."""
        self._closed = True
        await asyncio.to_thread(self._threads.shutdown)
        self.engine.dispose()


def _psycopg_url(url: str) -> sa.URL:
    try:
        parsed = sa.make_url(url)
    except (sa.exc.ArgumentError, ValueError):
        raise ConfigurationError("store.url: not a database address") from None
    if not parsed.drivername.startswith("postgres"):
        raise ConfigurationError(
            f"store.url: {parsed.drivername} is not supported; use postgresql://… or leave it out"
        )
    return parsed.set(drivername="postgresql+psycopg")
