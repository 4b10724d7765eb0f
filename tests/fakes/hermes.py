"""A home of Hermes Agent with conversations, as its version 0.19 keeps them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = """
CREATE TABLE sessions (
    id TEXT PRIMARY KEY, source TEXT NOT NULL, user_id TEXT, session_key TEXT, chat_id TEXT,
    chat_type TEXT, thread_id TEXT, model_config TEXT, parent_session_id TEXT,
    started_at REAL NOT NULL, ended_at REAL, end_reason TEXT, title TEXT
);
CREATE TABLE messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id),
    role TEXT NOT NULL, content TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL NOT NULL,
    observed INTEGER DEFAULT 0, active INTEGER NOT NULL DEFAULT 1,
    compacted INTEGER NOT NULL DEFAULT 0, display_kind TEXT
);
CREATE VIRTUAL TABLE messages_fts USING fts5(content);
CREATE TABLE state_meta (key TEXT PRIMARY KEY, value TEXT);
"""
#: 2026-03-01 10:00 UTC
MARCH = 1_772_359_200.0


class HermesHome:
    """Writes its ``state.db``; each call is a transaction, as another process's would be."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "state.db"
        folder.mkdir(parents=True, exist_ok=True)
        with closing(self._connect()) as conn:
            conn.execute("PRAGMA journal_mode=WAL")
            conn.executescript(SCHEMA)

    def session(self, id_: str, source: str = "cli", **columns: Any) -> str:
        """Add a session."""
        self._insert("sessions", {"started_at": MARCH, **columns, "id": id_, "source": source})
        return id_

    def say(self, session: str, *texts: str, role: str = "user", **columns: Any) -> None:
        """Add messages a minute apart."""
        for number, text in enumerate(texts):
            row = {"session_id": session, "role": role, "content": text}
            self._insert("messages", {"timestamp": MARCH + 60 * number, **row, **columns})

    def _insert(self, table: str, row: dict[str, Any]) -> None:
        marks = ", ".join("?" * len(row))
        with closing(self._connect()) as conn, conn:
            conn.execute(
                f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", [*row.values()]
            )

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path)
