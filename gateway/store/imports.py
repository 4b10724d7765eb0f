"""Conversations of another product, kept for search: said once, never sent to memory.

An imported session is a conversation of the platform ``import`` that is closed. All of it hangs
on one settled turn, which says whose it is; there is no ledger row, so nothing of it is history
or goes to the memory service. How far a session was read is a fact, written in the transaction
that stores its messages.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlalchemy as sa

from gateway.model.events import PlaceKind
from gateway.model.ids import AccountId, PlaceId, PlatformName, SessionId, new_turn_id
from gateway.model.turn import TurnState
from gateway.policy import naming
from gateway.policy.session import KeyParts, build_key
from gateway.store import facts, messages, names, search, sessions
from gateway.store.tables import conversation, fact, session, turn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from gateway.model.ids import ConversationKey, PeerId, TurnId
    from gateway.store.engine import Tx
    from gateway.store.people import Account

#: the platform of imported conversations: no adapter has it
PLATFORM = PlatformName("import")
CLOSED = "imported"
_MARK = "import:"


@dataclass(frozen=True, slots=True)
class Imported:
    """One session as it is taken over."""

    #: the product it comes from, and its id there
    source: str
    id: str
    title: str
    peer: PeerId
    rung: str
    identity: Mapping[str, object]
    #: where and by whom it was held
    account: Account
    place: str
    began_at: datetime
    ended_at: datetime


def progress(conn: sa.Connection, source: str) -> dict[str, int]:
    """Return for each session of ``source`` the last message that was looked at."""
    prefix = f"{_MARK}{source}:"
    rows = conn.execute(
        sa.select(fact.c.name, fact.c.value).where(fact.c.name.startswith(prefix, autoescape=True))
    )
    return {row.name.removeprefix(prefix): int(row.value) for row in rows}


def store(
    tx: Tx, new: Imported, said: Sequence[messages.Said], *, upto: int, now: datetime
) -> int:
    """Store messages of a session (``Said.id`` is theirs) and that it was read up to ``upto``.

    Returns how many are new: two that import at once store each message once.
    """
    mark = f"{_MARK}{new.source}:{new.id}"
    done = int(facts.get(tx.conn, mark) or -1)
    said = [each for each in said if each.id > done]
    if upto > done:
        facts.put(tx, mark, str(upto), now=now)
    if not said:
        return 0
    name, turn_id = _opened(tx, new, now=now)
    ids = [messages.add(tx, each, session=name, turn=turn_id) for each in said]
    search.feed_some(tx, ids)
    return len(ids)


def _opened(tx: Tx, new: Imported, *, now: datetime) -> tuple[SessionId, TurnId]:
    """Return the session and turn of what is imported, made at the first call."""
    key = build_key(
        KeyParts("default", PLATFORM, AccountId(new.source), PlaceKind.DIRECT, PlaceId(new.id))
    )
    found = tx.conn.execute(
        sa.select(session.c.id, turn.c.id)
        .join(turn, turn.c.session_number == session.c.number)
        .where(session.c.conversation == key)
        .limit(1)
    ).first()
    if found is not None:
        return found[0], found[1]
    original = f"{key}\n{new.source}"
    name = SessionId(
        naming.pick(
            naming.candidates(f"{new.source}-{new.id}"),
            original,
            names.owner(tx.conn, names.SESSION),
        )
    )
    names.take(tx, names.SESSION, name, original)
    _open_conversation(tx, new, key, name, now=now)
    return name, _settled_turn(tx, new, name)


def _open_conversation(
    tx: Tx, new: Imported, key: ConversationKey, name: SessionId, *, now: datetime
) -> None:
    tx.conn.execute(
        sa.insert(conversation).values(
            key=key,
            platform=PLATFORM,
            account=new.source,
            place_kind=PlaceKind.DIRECT,
            place=new.id,
            title=new.title,
            sessions=1,
            created_at=now,
            last_activity=new.ended_at,
        )
    )
    tx.conn.execute(
        sa.insert(session).values(
            id=name,
            conversation=key,
            ordinal=1,
            peer=new.peer,
            opened_at=new.began_at,
            closed_at=new.ended_at,
            close_reason=CLOSED,
        )
    )


def _settled_turn(tx: Tx, new: Imported, name: SessionId) -> TurnId:
    turn_id = new_turn_id()
    tx.conn.execute(
        sa.insert(turn).values(
            id=turn_id,
            session_number=sessions.number(name),
            peer=new.peer,
            rung=new.rung,
            identity=dict(new.identity),
            state=TurnState.SETTLED,
            platform=new.account.platform,
            account="",
            place=new.place,
            scope=new.account.scope,
            user_id=new.account.user_id,
            reply_to="",
            created_at=new.began_at,
            updated_at=new.ended_at,
        )
    )
    return turn_id
