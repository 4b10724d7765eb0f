"""Hermes Agent's own database, opened so that nothing in its folder can change."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gateway.model.errors import StoreError
from gateway.policy.hermes import HermesMessage, HermesSession

if TYPE_CHECKING:
    from collections.abc import Iterator

#: our name → the column, which not every version has
_SESSION = {
    "id": "id",
    "source": "source",
    "user": "user_id",
    "chat": "chat_id",
    "chat_type": "chat_type",
    "key": "session_key",
    "title": "title",
    "started_at": "started_at",
    "ended_at": "ended_at",
    "parent": "parent_session_id",
    "config": "model_config",
}
_MESSAGE = {"id": "id", "role": "role", "content": "content", "at": "timestamp"}
_FLAGS = {
    "active": "active",
    "compacted": "compacted",
    "observed": "observed",
    "summary": "_compressed_summary",
}
_NEEDED = {"sessions": {"id", "source"}, "messages": {"id", "session_id", "role", "content"}}


class HermesDatabase:
    """One open database of Hermes Agent."""

    def __init__(self, conn: sqlite3.Connection) -> None:
        self._conn = conn
        self._columns = {table: self._of(table) for table in _NEEDED}
        for table, needed in _NEEDED.items():
            if not needed <= self._columns[table]:
                raise StoreError(f"it is no database of Hermes Agent: no table {table} as known")

    def _of(self, table: str) -> set[str]:
        return {row[1] for row in self._conn.execute(f"PRAGMA table_info({table})")}

    def sessions(self) -> list[HermesSession]:
        """Return all sessions, parents before their children."""
        known = {name: col for name, col in _SESSION.items() if col in self._columns["sessions"]}
        order = "started_at, rowid" if "started_at" in known else "rowid"
        select = f"SELECT {', '.join(known.values())} FROM sessions ORDER BY {order}"  # noqa: S608
        rows = [dict(zip(known, row, strict=True)) for row in self._conn.execute(select)]
        ends = self._ends()
        return [HermesSession(**row, parent_end=ends.get(row.get("parent"))) for row in rows]

    def _ends(self) -> dict[Any, str]:
        if "end_reason" not in self._columns["sessions"]:
            return {}
        return dict(self._conn.execute("SELECT id, end_reason FROM sessions").fetchall())

    def messages(self, session: str) -> list[HermesMessage]:
        """Return a session's messages in the order in which they were written."""
        present = self._columns["messages"]
        known = _MESSAGE | {name: col for name, col in _FLAGS.items() if col in present}
        columns = [*known.values(), *(["display_kind"] if "display_kind" in present else [])]
        select = f"SELECT {', '.join(columns)} FROM messages"  # noqa: S608 - names of our own
        rows = self._conn.execute(f"{select} WHERE session_id = ? ORDER BY id", (session,))
        return [_message(dict(zip([*known, "kind"], row, strict=False))) for row in rows]

    def count(self) -> int:
        """Return how many messages there are of any kind."""
        return int(self._conn.execute("SELECT count(*) FROM messages").fetchone()[0])


def _message(row: dict[str, Any]) -> HermesMessage:
    kind = row.pop("kind", None)
    flags = {name: bool(row[name]) for name in _FLAGS if name in row}
    content = row["content"]
    if isinstance(content, bytes):
        content = content.decode("utf-8", "replace")
    at = row["at"] if isinstance(row["at"], int | float) else 0.0
    values = row | flags | {"content": content, "at": at}
    return HermesMessage(**values, hidden=kind == "hidden")


@contextmanager
def look(path: Path) -> Iterator[HermesDatabase]:
    """Open an existing database; not even a file beside it is made. Raises ``StoreError``.

    Without a log of changes nobody has it open, and it is read as it lies. With one it is read
    beside whoever writes, or, where nobody does after a crash, from a copy.
    """
    log, index = (path.with_name(f"{path.name}{end}") for end in ("-wal", "-shm"))
    try:
        if log.exists() and not index.exists():
            with tempfile.TemporaryDirectory(prefix="hermes-") as folder:
                copy = Path(folder, path.name)
                shutil.copyfile(path, copy)
                shutil.copyfile(log, copy.with_name(log.name))
                with closing(_connect(copy, "")) as conn:
                    yield HermesDatabase(conn)
            return
        with closing(_connect(path, "" if log.exists() else "&immutable=1")) as conn:
            yield HermesDatabase(conn)
    except (OSError, sqlite3.Error) as error:
        raise StoreError(f"cannot read {path}: {error}") from None


def _connect(path: Path, options: str) -> sqlite3.Connection:
    path.stat()
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro{options}", uri=True, timeout=10)
