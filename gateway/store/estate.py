"""What the database holds of one person: the conditions by which rows are theirs, and counts.

A turn is a person's when it was filed under their peer or came from an account of theirs, with all
that hangs on it: messages, answers, parts, ledger rows. A session or conversation is theirs alone
when nobody else has a turn in it; in the others only their own turns are theirs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from gateway.model.events import PlaceKind
from gateway.store import statements
from gateway.store.note_tables import memory_write, snapshot
from gateway.store.tables import (
    conversation,
    file,
    inbox,
    ledger,
    message,
    outbox,
    session,
    session_member,
    turn,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gateway.model.ids import PeerId, SessionId
    from gateway.store.engine import Connection
    from gateway.store.people import Account

#: most values in one IN (…)
CHUNK = 900
Condition = sa.ColumnElement[bool]


@dataclass(frozen=True, slots=True)
class Estate:
    """One person: the peers they were filed under, and their accounts."""

    peers: frozenset[PeerId]
    accounts: tuple[Account, ...] = ()

    @property
    def names(self) -> list[str]:
        """Everything that they are called by: peers, and accounts as operators write them."""
        written = {":".join(filter(None, one)) for one in self.accounts}
        return sorted({*self.peers, *written})

    # --- conditions ----------------------------------------------------------------------

    def said(self) -> Condition:
        """Whether a turn is theirs."""
        accounts = self._account(turn.c.platform, turn.c.scope, turn.c.user_id)
        return sa.or_(turn.c.peer.in_(self.peers), accounts)

    def turns(self) -> sa.Select[Any]:
        return sa.select(turn.c.id).where(self.said())

    def received(self) -> Condition:
        """Whether an event is theirs, also one that never became a turn."""
        sender = inbox.c.event["sender"]
        of_them = self._account(
            inbox.c.platform,
            sa.func.coalesce(sender["scope"].as_string(), ""),
            sa.func.coalesce(sender["id"].as_string(), ""),
        )
        # never NULL, so that its opposite is all the rest
        return sa.or_(
            sa.and_(inbox.c.turn.is_not(None), inbox.c.turn.in_(self.turns())),
            sa.and_(inbox.c.event.is_not(None), of_them),
        )

    def messages(self) -> Condition:
        """Whether a message is theirs, or an answer to them."""
        events = sa.select(inbox.c.message_id)
        events = events.where(self.received(), inbox.c.message_id.is_not(None))
        return sa.or_(message.c.turn.in_(self.turns()), message.c.id.in_(events))

    def remembered(self) -> Condition:
        """Whether a ledger row is of a message of one of their turns."""
        said = sa.select(message.c.id).where(message.c.turn.in_(self.turns()))
        return ledger.c.message_id.in_(said)

    def owns(self, table: sa.Table) -> Condition:
        """Whether a row of a table with platform, scope and user_id is one of the accounts."""
        return self._account(table.c.platform, table.c.scope, table.c.user_id)

    def _account(self, platform: Any, scope: Any, user: Any) -> Condition:
        each = (
            sa.and_(platform == one.platform, scope == one.scope, user == one.user_id)
            for one in self.accounts
        )
        return sa.or_(sa.false(), *each)

    # --- what is theirs alone ------------------------------------------------------------

    def sessions(self, conn: Connection) -> tuple[list[SessionId], list[SessionId]]:
        """Return their sessions: those that nobody else spoke in, and the shared ones."""
        spoke = sa.select(turn.c.session_number).where(self.said())
        touched = sa.select(session.c.id).where(
            sa.or_(session.c.number.in_(spoke), session.c.peer.in_(self.peers))
        )
        others = sa.select(turn.c.session_number).where(sa.not_(self.said()))
        own = conn.execute(touched.where(session.c.number.not_in(others))).scalars().all()
        shared = conn.execute(touched.where(session.c.number.in_(others))).scalars().all()
        return list(own), list(shared)

    def conversations(self, conn: Connection) -> list[sa.Row[Any]]:
        """Return the conversations (key, platform, account, place, place_kind) theirs alone."""
        columns = ("key", "platform", "account", "place", "place_kind")
        theirs = sa.or_(
            conversation.c.key.in_(_talks().where(self.said())),
            conversation.c.key.in_(sa.select(inbox.c.conversation).where(self.received())),
        )
        others = _talks().where(sa.not_(self.said()))
        mine = sa.select(inbox.c.id).where(self.received())
        waiting = sa.select(inbox.c.conversation).where(
            inbox.c.conversation.is_not(None), inbox.c.id.not_in(mine)
        )
        statement = sa.select(*(conversation.c[name] for name in columns)).where(
            theirs, conversation.c.key.not_in(others), conversation.c.key.not_in(waiting)
        )
        return list(conn.execute(statement))

    def observers(self, conn: Connection, sessions: Iterable[SessionId]) -> list[PeerId]:
        """Return everybody who is or was together with them in sessions, they included."""
        found: set[PeerId] = set(self.peers)
        for some in chunks(list(sessions)):
            members = sa.select(session_member.c.peer).where(session_member.c.session.in_(some))
            found |= set(conn.execute(members).scalars())
        return sorted(found)


@dataclass(frozen=True, slots=True)
class Holdings:
    """How much there is of a person; nothing of what it says."""

    accounts: tuple[str, ...]
    peers: tuple[PeerId, ...]
    turns: int
    messages: int
    waiting: int
    files: int
    sessions: tuple[SessionId, ...]
    shared_sessions: tuple[SessionId, ...]
    notes: int
    parts: int
    extra: Mapping[str, int] = field(default_factory=dict)


def holdings(conn: Connection, estate: Estate) -> Holdings:
    """Count."""
    own, shared = estate.sessions(conn)
    in_turn = estate.turns()
    return Holdings(
        accounts=tuple(":".join(filter(None, one)) for one in estate.accounts),
        peers=tuple(sorted(estate.peers)),
        turns=statements.count(conn, turn, estate.said()),
        messages=statements.count(conn, message, estate.messages()),
        waiting=statements.count(
            conn,
            ledger,
            estate.remembered(),
            ledger.c.state.in_(("held", "due", "sending")),
        ),
        files=statements.count(conn, file, file.c.turn.in_(in_turn), file.c.state != "dropped"),
        sessions=tuple(own),
        shared_sessions=tuple(shared),
        notes=statements.count(conn, memory_write, memory_write.c.peer.in_(estate.peers))
        + statements.count(conn, snapshot, snapshot.c.peer.in_(estate.peers)),
        parts=statements.count(conn, outbox, outbox.c.turn.in_(in_turn)),
    )


def _talks() -> sa.Select[Any]:
    """Return the conversations of turns, which a condition on the turns picks."""
    talks = sa.select(session.c.conversation)
    return talks.join(turn, turn.c.session_number == session.c.number)


def former_peers(conn: Connection, accounts: Sequence[Account]) -> set[PeerId]:
    """Return the peers that nobody but these accounts was ever filed under."""
    theirs = Estate(frozenset(), tuple(accounts))
    others = sa.select(turn.c.peer).where(sa.not_(theirs.said()))
    mine = sa.select(turn.c.peer).where(
        theirs.said(), turn.c.rung != "unattributed", turn.c.peer.not_in(others)
    )
    return set(conn.execute(mine.distinct()).scalars())


def direct_places(rows: Iterable[sa.Row[Any]]) -> list[tuple[str, str, str]]:
    """Return the places of conversations in which somebody is alone with a bot."""
    return [
        (row.platform, row.account, row.place)
        for row in rows
        if row.place_kind == PlaceKind.DIRECT and row.platform != "console"
    ]


def chunks(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Cut a list into pieces that fit one statement."""
    for start in range(0, len(values), CHUNK):
        yield values[start : start + CHUNK]
