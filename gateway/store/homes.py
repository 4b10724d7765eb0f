"""Where sessions stand at the memory service: under their own name, or copied for other peers.

A session whose author became another peer is copied there under a name of its own. The first
place stays (``kept``) until it is purged, so that going back costs nothing.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from gateway.model.ids import PeerId, SessionId
from gateway.policy import naming
from gateway.store import sessions
from gateway.store.ledger import OPEN, LedgerState
from gateway.store.people import Account
from gateway.store.people_tables import session_home as table
from gateway.store.sending import Row
from gateway.store.tables import ledger, message, session, turn
from gateway.store.talk import REMEMBERED

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from gateway.store.engine import Connection, Tx

#: author → peer
Peers = dict[str, PeerId]

_UNSETTLED = ("received", "admitted", "running")


class HomeState(StrEnum):
    """Life of a place."""

    COPYING = "copying"
    #: this is where the session's words are recalled from
    ACTIVE = "active"
    #: whose it was before: nothing is recalled for anybody who is not that peer
    KEPT = "kept"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class Home:
    """One place of one session."""

    id: int
    source: SessionId
    name: SessionId
    peers: Peers
    signature: str
    state: HomeState
    copied: int
    flight: int | None
    look_at: datetime | None
    part_limit: int

    @property
    def original(self) -> bool:
        """True for the place that capture writes to."""
        return self.name == self.source


@dataclass(frozen=True, slots=True)
class Source:
    """One session of ours: who speaks in it, as its rows went to the service."""

    id: SessionId
    conversation: str
    #: None where several people speak
    peer: PeerId | None
    last_seq: int
    closed: bool
    messages: int
    opened_at: datetime
    #: (account, peer) of what was said; several peers of one account where its identity changed
    voices: tuple[tuple[Account, PeerId], ...]


def author(account: Account, peer: str) -> str:
    """Return what stands for the speaker in ``Home.peers``."""
    if account.platform == "console":
        return "console"
    return ":".join(filter(None, account)) if account.user_id else f"={peer}"


def sign(peers: Mapping[str, str]) -> str:
    """Return what tells one assignment of authors from another."""
    return naming.digest(json.dumps(sorted(peers.items())))[:16]


def sources(conn: Connection) -> list[Source]:
    """Return every session that memory has something of, the oldest first."""
    who = (session.c.id, turn.c.platform, turn.c.scope, turn.c.user_id, ledger.c.peer)
    said = conn.execute(
        sa.select(*who)
        .join(message, message.c.id == ledger.c.message_id)
        .join(turn, turn.c.id == message.c.turn)
        .join(session, session.c.number == ledger.c.session_number)
        .where(message.c.role == "user", ledger.c.state.in_(REMEMBERED))
        .distinct()
    )
    voices: dict[str, list[tuple[Account, PeerId]]] = defaultdict(list)
    for row in said:
        voices[row.id].append((Account(*row[1:4]), row.peer))
    counted = (
        sa.select(ledger.c.session_number, sa.func.count().label("messages"))
        .where(ledger.c.state.in_(REMEMBERED))
        .group_by(ledger.c.session_number)
        .subquery()
    )
    found = conn.execute(
        sa.select(
            session.c.id,
            session.c.conversation,
            session.c.peer,
            session.c.last_seq,
            session.c.closed_at.is_not(None),
            counted.c.messages,
            session.c.opened_at,
        )
        .join(counted, counted.c.session_number == session.c.number)
        .order_by(session.c.opened_at, session.c.id)
    )
    return [
        Source(
            id=row[0],
            conversation=row[1],
            peer=row[2],
            last_seq=row[3],
            closed=row[4],
            messages=row[5],
            opened_at=row[6],
            voices=tuple(voices[row[0]]),
        )
        for row in found
    ]


def of_all(conn: Connection) -> dict[SessionId, list[Home]]:
    """Return the places of each session that has others than its own, dropped ones left out."""
    rows = conn.execute(_select().where(table.c.state != HomeState.DROPPED))
    found: dict[SessionId, list[Home]] = defaultdict(list)
    for row in rows:
        found[row.source].append(_home(row))
    return found


def of(conn: Connection, source: SessionId) -> list[Home]:
    """Return the places of one session, dropped ones included."""
    return [_home(row) for row in conn.execute(_select().where(table.c.source == source))]


def _select() -> sa.Select[Any]:
    return sa.select(table).order_by(table.c.id)


def _home(row: sa.Row[Any]) -> Home:
    return Home(
        id=row.id,
        source=row.source,
        name=row.name,
        peers=dict(row.peers),
        signature=row.signature,
        state=HomeState(row.state),
        copied=row.copied,
        flight=row.flight,
        look_at=row.look_at,
        part_limit=row.part_limit,
    )


def own(source: Source, peers: Peers, *, part_limit: int) -> Home:
    """Return the place that a session without any other has: under its own name."""
    signature = sign(peers)
    state = HomeState.ACTIVE
    last = source.last_seq
    return Home(0, source.id, source.id, peers, signature, state, last, None, None, part_limit)


def add(
    tx: Tx,
    source: SessionId,
    name: SessionId,
    peers: Mapping[str, str],
    *,
    state: HomeState,
    part_limit: int,
    now: datetime,
) -> None:
    """Note a place. The original is noted when the first other one is."""
    tx.conn.execute(
        sa.insert(table).values(
            source=source,
            name=name,
            peers=dict(peers),
            signature=sign(peers),
            state=state,
            part_limit=part_limit,
            created_at=now,
        )
    )


def rows(
    conn: Connection, home: Home, *, after: int, limit: int, until: int | None = None
) -> list[Row]:
    """Return a session's next rows to be copied, each under the peer that it has there.

    It ends before the first one that may still turn out as never said.
    """
    statement = (
        sa.select(
            *(ledger, message.c.turn, message.c.role, message.c.text, message.c.sent_at),
            *(turn.c.platform, turn.c.scope, turn.c.user_id, turn.c.rung),
        )
        .join(message, message.c.id == ledger.c.message_id)
        .join(turn, turn.c.id == message.c.turn)
        .where(
            ledger.c.session_number == sessions.number(home.source),
            ledger.c.seq > after,
            ledger.c.state.in_(REMEMBERED),
            message.c.text != "",
        )
        .order_by(ledger.c.seq)
        .limit(limit)
    )
    if until is not None:
        statement = statement.where(ledger.c.seq <= until)
    found: list[Row] = []
    for row in conn.execute(statement):
        if row.state == LedgerState.HELD:
            break
        found.append(_row(row, home))
    return found


def _row(row: sa.Row[Any], home: Home) -> Row:
    peer = row.peer
    if row.role == "user":
        account = Account(row.platform, row.scope, row.user_id)
        peer = home.peers.get(author(account, peer), peer)
    return Row(
        id=row.id,
        seq=row.seq,
        turn=row.turn,
        message_id=row.message_id,
        peer=PeerId(peer),
        role=row.role,
        rung=row.rung,
        state=LedgerState(row.state),
        attempts=row.attempts,
        look_at=None,
        part_limit=row.part_limit or home.part_limit,
        text=row.text,
        sent_at=row.sent_at,
        created_at=row.created_at,
    )


def fly(tx: Tx, home: Home, until: int, *, look_at: datetime) -> None:
    """Note that rows up to ``until`` are being handed over; commit this before doing so."""
    tx.conn.execute(
        sa.update(table).where(table.c.id == home.id).values(flight=until, look_at=look_at)
    )


def land(tx: Tx, home: Home, until: int) -> None:
    """Note that the service has all rows up to ``until``."""
    tx.conn.execute(
        sa.update(table)
        .where(table.c.id == home.id)
        .values(copied=until, flight=None, look_at=None)
    )


def busy(conn: Connection, source: SessionId) -> bool:
    """Tell whether more may still be written into a session, or is on its way to the service."""
    here = sessions.number(source)
    running = sa.select(turn.c.id).where(
        turn.c.session_number == here, turn.c.state.in_(_UNSETTLED)
    )
    waiting = sa.select(ledger.c.id).where(
        ledger.c.session_number == here, ledger.c.state.in_(OPEN)
    )
    return any(conn.execute(each.limit(1)).first() for each in (running, waiting))


def activate(tx: Tx, home: Home) -> None:
    """Recall the session's words from this place from now on; the others are kept."""
    others = sa.and_(table.c.source == home.source, table.c.state == HomeState.ACTIVE)
    tx.conn.execute(sa.update(table).where(others).values(state=HomeState.KEPT))
    tx.conn.execute(sa.update(table).where(table.c.id == home.id).values(state=HomeState.ACTIVE))
    own = list(dict.fromkeys(home.peers.values()))
    mine = sa.and_(session.c.id == home.source, session.c.peer.is_not(None))
    if len(own) == 1:
        tx.conn.execute(sa.update(session).where(mine).values(peer=own[0]))
    here = turn.c.session_number == sessions.number(home.source)
    spoken = sa.select(turn.c.platform, turn.c.scope, turn.c.user_id, turn.c.peer).where(here)
    for platform, scope, user, peer in tx.conn.execute(spoken.distinct()).all():
        now = home.peers.get(author(Account(platform, scope, user), peer), peer)
        tx.conn.execute(
            sa.update(turn)
            .where(
                here,
                turn.c.platform == platform,
                turn.c.scope == scope,
                turn.c.user_id == user,
            )
            .values(peer=now)
        )


def drop(tx: Tx, home: Home) -> None:
    """Note that a place is no more."""
    tx.conn.execute(sa.update(table).where(table.c.id == home.id).values(state=HomeState.DROPPED))


def wake(tx: Tx, home: Home) -> None:
    """Go on copying into a place that was left."""
    tx.conn.execute(sa.update(table).where(table.c.id == home.id).values(state=HomeState.COPYING))
