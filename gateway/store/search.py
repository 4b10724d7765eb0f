"""Full-text search over what was said, within what one asker may see.

The index only proposes: whether a message is in scope is decided by its turn's row.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from gateway.model.turn import TurnState
from gateway.store import ledger, messages, search_index, sessions
from gateway.store.people_tables import session_home
from gateway.store.tables import conversation, message, session, turn
from gateway.store.tables import ledger as ledger_table
from gateway.text.terms import words

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from gateway.model.ids import PeerId, SessionId, TurnId
    from gateway.store.engine import Tx
    from gateway.text.terms import Query

#: turns whose messages are never searched: they may still change
_OPEN = (TurnState.RECEIVED, TurnState.ADMITTED, TurnState.RUNNING)
_SPOKEN = (messages.USER, messages.ASSISTANT)


@dataclass(frozen=True, slots=True)
class Scope:
    """What an asker may see: a person's own conversations, or one place; neither: everything."""

    peer: PeerId | None = None
    #: (platform, account, ids) of a place by all the ids that it has had
    place: tuple[str, str, frozenset[str]] | None = None

    def tags(self) -> list[str]:
        """Return the tags of which a message in scope has one."""
        if self.place is not None:
            platform, account, ids = self.place
            return sorted(_place_tag(platform, account, id_) for id_ in ids)
        return [] if self.peer is None else [_tag("p", self.peer)]

    def holds(self) -> sa.ColumnElement[bool]:
        """Return the condition on a message's turn."""
        if self.place is not None:
            platform, account, ids = self.place
            return sa.and_(
                turn.c.platform == platform, turn.c.account == account, turn.c.place.in_(ids)
            )
        return sa.true() if self.peer is None else turn.c.peer == self.peer


@dataclass(frozen=True, slots=True)
class Line:
    """One message as a search shows it."""

    id: int
    session: SessionId
    title: str
    role: str
    author: str
    text: str
    sent_at: datetime


@dataclass(frozen=True, slots=True)
class Overview:
    """One session in a list."""

    session: SessionId
    title: str
    lines: int
    first: Line
    last_at: datetime


@dataclass(frozen=True, slots=True)
class Report:
    """How index and messages agree."""

    indexed: int
    missing: int
    stale: int
    damage: str = ""

    @property
    def sound(self) -> bool:
        """Whether nothing has to be done."""
        return not (self.missing or self.stale or self.damage)


# --- the index -------------------------------------------------------------------------------


def feed(tx: Tx, turn_id: TurnId) -> None:
    """Index the messages of a turn; call in the transaction that closes it."""
    _add(tx, _to_index().where(message.c.turn == turn_id))


def feed_some(tx: Tx, ids: Sequence[int]) -> None:
    """Index messages of a closed turn that are not indexed yet."""
    _add(tx, _to_index().where(message.c.id.in_(ids)))


def forget(tx: Tx, ids: Sequence[int]) -> None:
    """Take messages out of the index; call before their words go, which the index is asked by."""
    search_index.of(tx.conn).remove(tx, _entries(tx, _to_index().where(message.c.id.in_(ids))))


def fill(tx: Tx, *, limit: int) -> int:
    """Index up to ``limit`` messages of closed turns that the index lacks; return how many."""
    return _add(tx, _missing(tx.conn).order_by(message.c.id).limit(limit))


def clear(tx: Tx) -> None:
    """Empty the index; ``fill`` makes it anew."""
    search_index.of(tx.conn).clear(tx)


def check(conn: sa.Connection) -> Report:
    """Compare the index with the messages."""
    index = search_index.of(conn)
    ids = _ids(index)
    stale = sa.select(sa.func.count()).select_from(ids).where(ids.c.id.not_in(_searchable()))
    return Report(
        indexed=_number(conn, sa.select(sa.func.count()).select_from(ids)),
        missing=_number(conn, sa.select(sa.func.count()).select_from(_missing(conn).subquery())),
        stale=_number(conn, stale),
        damage=index.damage(conn),
    )


def _add(tx: Tx, found: sa.Select[Any]) -> int:
    entries = _entries(tx, found)
    search_index.of(tx.conn).add(tx, entries)
    return len(entries)


def _entries(tx: Tx, found: sa.Select[Any]) -> list[search_index.Entry]:
    return [
        search_index.Entry(
            row.id,
            words(row.text),
            (_tag("p", row.peer), _place_tag(row.platform, row.account, row.place)),
        )
        for row in tx.conn.execute(found)
    ]


def _to_index() -> sa.Select[Any]:
    return (
        sa.select(
            message.c.id,
            message.c.text,
            turn.c.peer,
            turn.c.platform,
            turn.c.account,
            turn.c.place,
        )
        .join(turn, turn.c.id == message.c.turn)
        .where(message.c.role.in_(_SPOKEN))
    )


def _missing(conn: sa.Connection) -> sa.Select[Any]:
    ids = _ids(search_index.of(conn))
    lacking = message.c.id.not_in(sa.select(ids.c.id))
    return _to_index().where(turn.c.state.not_in(_OPEN), message.c.text != "", lacking)


def _searchable() -> sa.Select[Any]:
    joined = sa.select(message.c.id).join(turn, turn.c.id == message.c.turn)
    return joined.where(message.c.role.in_(_SPOKEN), turn.c.state.not_in(_OPEN))


def _ids(index: search_index.Index) -> sa.Subquery:
    return sa.text(index.ids).columns(sa.column("id", sa.Integer)).subquery()


def _number(conn: sa.Connection, statement: sa.Select[Any]) -> int:
    return int(conn.execute(statement).scalar_one())


def _tag(kind: str, *values: str) -> str:
    """Return a short tag for an id; two ids with one tag cost time, never an answer."""
    return kind + hashlib.sha256("\0".join(values).encode()).hexdigest()[:10]


def _place_tag(platform: str, account: str, place: str) -> str:
    return _tag("q", platform, account, place)


# --- looking ---------------------------------------------------------------------------------


def find(conn: sa.Connection, query: Query, scope: Scope, *, limit: int) -> list[Line]:
    """Return the best hits among the newest; among equals, the newest first."""
    if not query:
        return []
    tags = [*scope.tags(), *(_tag("p", peer) for peer in _former(conn, scope))]
    scores = dict(search_index.of(conn).find(conn, query, tags))
    ranked = sorted(scores, key=lambda id_: (-scores[id_], -id_))
    found: list[Line] = []
    for start in range(0, len(ranked), limit):
        batch = ranked[start : start + limit]
        lines = {line.id: line for line in _lines(conn, scope, message.c.id.in_(batch))}
        found += [lines[id_] for id_ in batch if id_ in lines]
        if len(found) >= limit:
            break
    return found[:limit]


def _former(conn: sa.Connection, scope: Scope) -> list[str]:
    """Return the peers under which the index may have what has become this person's since."""
    if scope.peer is None or scope.place is not None:
        return []
    copied = sa.select(session.c.number).where(session.c.id.in_(sa.select(session_home.c.source)))
    rows = conn.execute(
        sa.select(ledger_table.c.peer)
        .join(message, message.c.id == ledger_table.c.message_id)
        .join(turn, turn.c.id == message.c.turn)
        .where(
            ledger_table.c.session_number.in_(copied),
            message.c.role == messages.USER,
            turn.c.peer == scope.peer,
        )
        .distinct()
    )
    return [peer for peer in rows.scalars() if peer != scope.peer]


def read(
    conn: sa.Connection,
    scope: Scope,
    session_id: SessionId,
    *,
    before: int | None = None,
    after: int | None = None,
    limit: int,
) -> list[Line]:
    """Return lines of a session, oldest first: the newest, or those beside a message's id."""
    where = [message.c.session_number == sessions.number(session_id)]
    if after is not None:
        return _lines(conn, scope, *where, message.c.id > after, limit=limit)
    if before is not None:
        where.append(message.c.id < before)
    return _lines(conn, scope, *where, limit=limit, newest=True)


def line(conn: sa.Connection, scope: Scope, id_: int) -> Line | None:
    """Return one message in scope."""
    return next(iter(_lines(conn, scope, message.c.id == id_)), None)


def browse(conn: sa.Connection, scope: Scope, *, limit: int) -> list[Overview]:
    """Return the sessions in scope in which something was said last."""
    said = sa.func.max(message.c.sent_at)  # what was imported has later ids than it should
    last = sa.func.max(message.c.id)
    grouped = (
        sa.select(session.c.id, sa.func.min(message.c.id), last, sa.func.count())
        .join(turn, turn.c.id == message.c.turn)
        .join(session, session.c.number == message.c.session_number)
        .where(scope.holds(), message.c.role.in_(_SPOKEN), turn.c.state.not_in(_OPEN))
        .group_by(session.c.id)
        .order_by(said.desc(), last.desc())
        .limit(limit)
    )
    found = []
    for name, first_id, last_id, count in conn.execute(grouped).tuples():
        first, final = line(conn, scope, first_id), line(conn, scope, last_id)
        if first is not None:
            at = first.sent_at if final is None else final.sent_at
            found.append(Overview(name, first.title, count, first, at))
    return found


def _lines(
    conn: sa.Connection,
    scope: Scope,
    *where: sa.ColumnElement[bool],
    limit: int | None = None,
    newest: bool = False,
) -> list[Line]:
    """Return messages of closed turns in scope by id; what was never delivered was never said."""
    unsaid = sa.exists().where(
        ledger_table.c.message_id == message.c.id,
        ledger_table.c.reason == ledger.UNDELIVERED,
    )
    statement = (
        sa.select(
            message.c.id,
            session.c.id,
            sa.func.coalesce(conversation.c.title, ""),
            message.c.role,
            message.c.author,
            message.c.text,
            message.c.sent_at,
        )
        .join(turn, turn.c.id == message.c.turn)
        .join(session, session.c.number == message.c.session_number)
        .outerjoin(conversation, conversation.c.key == session.c.conversation)
        .where(
            *where,
            scope.holds(),
            message.c.role.in_(_SPOKEN),
            turn.c.state.not_in(_OPEN),
            ~unsaid,
        )
        .order_by(message.c.id.desc() if newest else message.c.id)
        .limit(limit)
    )
    found = [Line(*row) for row in conn.execute(statement)]
    return found[::-1] if newest else found
