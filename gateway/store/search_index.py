"""The full-text index of each dialect: the words of messages by their ids, and nothing else.

SQLite has a contentless FTS5 table: an entry is taken back by its words, never by its id alone.
PostgreSQL has a table with a ``tsvector``. Both hold words of ``gateway.text.terms``, and as
*tags* whose message it is and where it was said, so that a search never passes over others.
No query of a person reaches either database: what does is put together from words.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlalchemy as sa

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gateway.store.engine import Tx
    from gateway.text.terms import Query, Term

#: the newest hits that are ranked: ranking every hit of a common word takes far longer
HORIZON = 2000
#: PostgreSQL counts positions no further
_LAST_POSITION = 16383


@dataclass(frozen=True, slots=True)
class Entry:
    """One message for the index. Words and tags hold letters, digits and marks only."""

    message: int
    words: Sequence[str]
    tags: Sequence[str]


class Index(ABC):
    """One dialect's index."""

    #: SELECT of the ids that are indexed, as column ``id``
    ids: str

    @abstractmethod
    def add(self, tx: Tx, entries: Sequence[Entry]) -> None:
        """Index messages that are not indexed yet."""

    @abstractmethod
    def remove(self, tx: Tx, entries: Sequence[Entry]) -> None:
        """Take messages back, those that are indexed; entries as they were added."""

    @abstractmethod
    def clear(self, tx: Tx) -> None:
        """Forget everything."""

    @abstractmethod
    def find(
        self, conn: sa.Connection, query: Query, tags: Sequence[str]
    ) -> Sequence[tuple[int, float]]:
        """Return (message, score) of the newest hits with any of the tags; better is higher.

        No ``tags``: everybody's.
        """

    @abstractmethod
    def damage(self, conn: sa.Connection) -> str:
        """Return what is wrong inside the index, "" for a sound one."""


class Fts5(Index):
    """SQLite's."""

    ids = "SELECT id FROM search_index_docsize"

    def add(self, tx: Tx, entries: Sequence[Entry]) -> None:
        """See ``Index.add``."""
        insert = "INSERT INTO search_index (rowid, body, tags) VALUES (:id, :body, :tags)"
        if rows := [_fts_row(one) for one in entries]:
            tx.conn.execute(sa.text(insert), rows)

    def remove(self, tx: Tx, entries: Sequence[Entry]) -> None:
        """See ``Index.remove``; taking back what is not there would damage the index."""
        there = sa.text(f"{self.ids} WHERE id = :id")
        delete = (
            "INSERT INTO search_index (search_index, rowid, body, tags)"
            " VALUES ('delete', :id, :body, :tags)"
        )
        for row in map(_fts_row, entries):
            if tx.conn.execute(there, {"id": row["id"]}).first() is not None:
                tx.conn.execute(sa.text(delete), row)

    def clear(self, tx: Tx) -> None:
        """See ``Index.clear``."""
        tx.conn.execute(sa.text("INSERT INTO search_index (search_index) VALUES ('delete-all')"))

    def find(
        self, conn: sa.Connection, query: Query, tags: Sequence[str]
    ) -> Sequence[tuple[int, float]]:
        """See ``Index.find``."""
        match = " AND ".join(f"({_or(_fts_term(term) for term in group)})" for group in query)
        match = f"body : ({match})"
        if tags:
            match = f"tags : ({_or(_quoted(tag) for tag in tags)}) AND {match}"
        statement = (
            "SELECT rowid, -bm25(search_index, 1.0, 0.0) FROM search_index"
            " WHERE search_index MATCH :match ORDER BY rowid DESC LIMIT :limit"
        )
        rows = conn.execute(sa.text(statement), {"match": match, "limit": HORIZON})
        return [(row[0], row[1]) for row in rows]

    def damage(self, conn: sa.Connection) -> str:
        """See ``Index.damage``; SQLite's own check wants to write, so a read stands for it."""
        try:
            conn.execute(
                sa.text("SELECT count(*) FROM search_index WHERE search_index MATCH 'a*'")
            )
        except sa.exc.DatabaseError as error:
            return str(error.orig)
        return ""


class Tsvector(Index):
    """PostgreSQL's."""

    ids = "SELECT message AS id FROM search_index"

    def add(self, tx: Tx, entries: Sequence[Entry]) -> None:
        """See ``Index.add``."""
        insert = (
            "INSERT INTO search_index (message, words) VALUES (:id, CAST(:words AS tsvector))"
            " ON CONFLICT (message) DO NOTHING"
        )
        rows = [{"id": one.message, "words": _vector(one)} for one in entries]
        if rows:
            tx.conn.execute(sa.text(insert), rows)

    def remove(self, tx: Tx, entries: Sequence[Entry]) -> None:
        """See ``Index.remove``."""
        delete = sa.text("DELETE FROM search_index WHERE message = :id")
        if rows := [{"id": one.message} for one in entries]:
            tx.conn.execute(delete, rows)

    def clear(self, tx: Tx) -> None:
        """See ``Index.clear``."""
        tx.conn.execute(sa.text("DELETE FROM search_index"))

    def find(
        self, conn: sa.Connection, query: Query, tags: Sequence[str]
    ) -> Sequence[tuple[int, float]]:
        """See ``Index.find``."""
        asked = " & ".join(f"({' | '.join(_ts_term(term) for term in group)})" for group in query)
        where = asked
        if tags:
            where = f"({' | '.join(_tag(tag) for tag in tags)}) & ({asked})"
        statement = (
            "SELECT message, ts_rank(words, CAST(:asked AS tsquery), 1) FROM ("
            "SELECT message, words FROM search_index WHERE words @@ CAST(:where AS tsquery)"
            " ORDER BY message DESC LIMIT :limit) AS newest"
        )
        values = {"asked": asked, "where": where, "limit": HORIZON}
        return [(row[0], row[1]) for row in conn.execute(sa.text(statement), values)]

    def damage(self, conn: sa.Connection) -> str:
        """See ``Index.damage``: the table is one like any other."""
        conn.execute(sa.text("SELECT 1 FROM search_index LIMIT 1"))
        return ""


_FTS5, _TSVECTOR = Fts5(), Tsvector()


def of(conn: sa.Connection) -> Index:
    """Return the index of a connection's dialect."""
    return _FTS5 if conn.dialect.name == "sqlite" else _TSVECTOR


def _or(terms: Iterable[str]) -> str:
    return " OR ".join(terms)


def _quoted(words: str) -> str:
    return f'"{words}"'


def _fts_row(entry: Entry) -> dict[str, object]:
    return {"id": entry.message, "body": " ".join(entry.words), "tags": " ".join(entry.tags)}


def _fts_term(term: Term) -> str:
    return _quoted(" ".join(term.words)) + ("*" if term.prefix else "")


def _ts_term(term: Term) -> str:
    words = [f"'{word}'" for word in term.words]
    if term.prefix:
        words[-1] += ":*"
    return f"({' <-> '.join(words)})"


def _tag(tag: str) -> str:
    """Return a tag as a lexeme that no word can be."""
    return f"'={tag}'"


def _vector(entry: Entry) -> str:
    words = (
        f"'{word}':{min(position, _LAST_POSITION)}" for position, word in enumerate(entry.words, 1)
    )
    return " ".join((*words, *(_tag(tag) for tag in entry.tags)))
