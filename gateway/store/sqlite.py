"""SQLite for one process: one writer thread with group commit, readers apart.

Writers queue; the thread takes what waits, runs each operation in a savepoint of one
transaction and commits once. So one failing operation does not undo its neighbours, and one
flush to disk serves all. A batch with a ``durable`` operation is flushed (synchronous=FULL);
the others are safe against a crash of the process, not against a power cut.
"""

from __future__ import annotations

import asyncio
import queue
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import sqlalchemy as sa

from gateway.model.errors import StoreBusyError, StoreError
from gateway.store.engine import CLOSED, Store, Tx, translate

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

T = TypeVar("T")

#: most operations that share one commit: bounds how long the first of them waits
GROUP = 256


@dataclass(slots=True)
class _Operation:
    fn: Callable[[Tx], Any]
    durable: bool
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]
    result: Any = None
    error: BaseException | None = None
    callbacks: tuple[Callable[[], None], ...] = ()

    def resolve(self) -> None:
        """In the event loop: first the callbacks of a committed operation, then its result.

        A callback that raises is reported by the loop and keeps nobody from the result.
        """
        if self.error is None:
            for callback in self.callbacks:
                self.loop.call_soon(callback)
        if self.future.done():
            return
        if self.error is None:
            self.future.set_result(self.result)
        else:
            self.future.set_exception(self.error)


class SqliteStore(Store):
    """The embedded database of one home. Several processes may open it; see ``busy_timeout``."""

    def __init__(self, path: Path, *, busy_timeout: float = 10.0, readers: int = 4) -> None:
        """Open ``path``, creating it (0600). ``busy_timeout``: seconds to wait for other writers.

        Raises ``StoreError`` when the file cannot be opened or is not a database.
        """
        self.path = path
        self._busy_ms = int(busy_timeout * 1000)
        self._create()
        self._inode = path.stat().st_ino
        self.engine = self._engine("BEGIN IMMEDIATE", query_only=False)
        self._reader_engine = self._engine("BEGIN", query_only=True, pool_size=readers)
        self._queue: queue.SimpleQueue[_Operation | None] = queue.SimpleQueue()
        self._readers = ThreadPoolExecutor(readers, thread_name_prefix="store-read")
        self._closed = False
        self._writer = threading.Thread(target=self._work, name="store-write", daemon=True)
        self._writer.start()

    # --- callers -------------------------------------------------------------------------

    async def write(self, fn: Callable[[Tx], T], *, durable: bool = False) -> T:
        """See ``Store.write``."""
        if self._closed:
            raise StoreError(CLOSED)
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._queue.put(_Operation(fn, durable, loop, future))
        return await future

    async def read(self, fn: Callable[[sa.Connection], T]) -> T:
        """See ``Store.read``."""
        if self._closed:
            raise StoreError(CLOSED)

        def snapshot() -> T:
            with self._reader_engine.connect() as conn, conn.begin():
                return fn(conn)

        try:
            return await asyncio.get_running_loop().run_in_executor(self._readers, snapshot)
        except (sa.exc.SQLAlchemyError, OverflowError) as error:
            raise translate(error) from None

    async def compact(self) -> bool:
        """See ``Store.compact``: the file is written anew, and its log of changes emptied.

        Takes a while on a large file, in which nobody else can write.
        """
        if self._closed:
            raise StoreError(CLOSED)
        return await asyncio.to_thread(self._compact)

    def _compact(self) -> bool:
        try:
            with closing(sqlite3.connect(self.path, timeout=self._busy_ms / 1000)) as raw:
                raw.execute("VACUUM")
                busy, *_ = raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.Error as error:
            if isinstance(translated := translate(error), StoreBusyError):
                return False
            raise translated from None
        return not busy

    async def close(self) -> None:
        """See ``Store.close``."""
        if self._closed:
            return
        self._closed = True
        self._queue.put(None)
        await asyncio.to_thread(self._writer.join)
        await asyncio.to_thread(self._readers.shutdown)
        self._reader_engine.dispose()
        self.engine.dispose()

    # --- writer thread -------------------------------------------------------------------

    def _work(self) -> None:
        while (first := self._queue.get()) is not None:
            batch = [first]
            while len(batch) < GROUP and not self._queue.empty():
                following = self._queue.get()
                if following is None:
                    self._run(batch)
                    return
                batch.append(following)
            self._run(batch)

    def _run(self, batch: list[_Operation]) -> None:
        try:
            self._commit(batch)
        except (sa.exc.SQLAlchemyError, sqlite3.Error, StoreError) as error:
            failure = error if isinstance(error, StoreError) else translate(error)
            for operation in batch:
                operation.error = operation.error or failure
        by_loop: dict[asyncio.AbstractEventLoop, list[_Operation]] = {}
        for operation in batch:
            by_loop.setdefault(operation.loop, []).append(operation)
        for loop, operations in by_loop.items():
            with suppress(RuntimeError):  # the loop has ended: nobody waits any more
                loop.call_soon_threadsafe(_resolve_all, operations)

    def _commit(self, batch: list[_Operation]) -> None:
        self._check_file()
        with self.engine.connect() as conn:
            self._set_synchronous(conn, "FULL" if any(op.durable for op in batch) else "NORMAL")
            with conn.begin():
                for operation in batch:
                    self._apply(conn, operation)

    def _apply(self, conn: sa.Connection, operation: _Operation) -> None:
        tx, savepoint = Tx(conn), conn.begin_nested()
        try:
            operation.result = operation.fn(tx)
            savepoint.commit()
            operation.callbacks = tuple(tx.callbacks)
        except (sa.exc.SQLAlchemyError, OverflowError) as error:
            operation.error = translate(error)
        except Exception as error:
            operation.error = error
        if operation.error is not None:
            _check_transaction(conn)
            savepoint.rollback()

    def _set_synchronous(self, conn: sa.Connection, level: str) -> None:
        if conn.info.get("synchronous") != level:
            conn.connection.cursor().execute(f"PRAGMA synchronous={level}")
            conn.info["synchronous"] = level

    def _check_file(self) -> None:
        try:
            same = self.path.stat().st_ino == self._inode
        except OSError:
            same = False
        if not same:
            raise StoreError(
                f"{self.path} was deleted or replaced while in use; "
                "stop the gateway, put the file back, and start again"
            )

    # --- connections ---------------------------------------------------------------------

    def _create(self) -> None:
        try:
            self.path.touch(mode=0o600)
            with closing(sqlite3.connect(self.path, timeout=self._busy_ms / 1000)) as raw:
                raw.execute("PRAGMA auto_vacuum=INCREMENTAL")  # heeded by a new file only
                raw.execute("PRAGMA journal_mode=WAL")
        except (OSError, sqlite3.Error) as error:
            raise StoreError(f"cannot open the database {self.path}: {error}") from error

    def _engine(self, begin: str, *, query_only: bool, pool_size: int = 1) -> sa.Engine:
        engine = sa.create_engine(
            sa.URL.create("sqlite", database=str(self.path)),
            hide_parameters=True,
            poolclass=sa.QueuePool,
            pool_size=pool_size,
            max_overflow=0,
            connect_args={"check_same_thread": False},
        )

        @sa.event.listens_for(engine, "connect")
        def prepare(connection: Any, _record: object) -> None:
            connection.isolation_level = None
            for pragma in (
                f"busy_timeout={self._busy_ms}",
                "foreign_keys=ON",
                "temp_store=MEMORY",
                "cache_size=-20000",
                "journal_size_limit=67108864",
                f"query_only={'ON' if query_only else 'OFF'}",
            ):
                connection.execute(f"PRAGMA {pragma}")

        @sa.event.listens_for(engine, "begin")
        def start(conn: sa.Connection) -> None:
            conn.exec_driver_sql(begin)

        return engine


def _check_transaction(conn: sa.Connection) -> None:
    """Raise when SQLite gave up the whole transaction (a full disk, say), neighbours included."""
    raw = conn.connection.driver_connection
    if raw is not None and not raw.in_transaction:
        raise StoreError("the database undid the group of writes that this one was part of")


def _resolve_all(operations: list[_Operation]) -> None:
    for operation in operations:
        operation.resolve()
