"""Taking a person out of the database, in one transaction; and the jobs that go on elsewhere."""

from __future__ import annotations

import zlib
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from gateway.model.ids import PeerId, SessionId
from gateway.policy import naming
from gateway.store import erased, names, search, sending, sessions
from gateway.store.columns import metadata
from gateway.store.erasure_tables import erasure
from gateway.store.estate import Estate, chunks, direct_places
from gateway.store.ledger import LedgerState
from gateway.store.link_tables import link, link_request
from gateway.store.note_tables import memory_write, snapshot
from gateway.store.people_tables import hand_note, identity_change, rehome_job, session_home
from gateway.store.tables import (
    access_grant,
    conversation,
    fact,
    file,
    inbox,
    item,
    ledger,
    message,
    outbox,
    pairing,
    person,
    place,
    recall,
    session,
    session_member,
    set_aside,
    taken_name,
    turn,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from gateway.store.engine import Connection, Tx


@dataclass(frozen=True, slots=True)
class Plan:
    """What is still to be forgotten once the database has forgotten."""

    peers: tuple[PeerId, ...]
    #: sessions at the memory service that are deleted there
    sessions: tuple[SessionId, ...]
    #: who may have drawn conclusions about the person, or the person about them
    observers: tuple[PeerId, ...]
    #: files in the folder of files
    files: tuple[str, ...]


def erase(tx: Tx, estate: Estate, *, grants: bool, now: datetime) -> tuple[Plan, list[SessionId]]:
    """Delete all that is a person's; return what is left to do, and sessions to be written anew.

    ``grants``: what they were granted goes too. Keys of their events stay as digests.
    """
    conn = tx.conn
    own, shared = estate.sessions(conn)
    plan = Plan(
        peers=tuple(sorted(estate.peers)),
        sessions=(*own, *shared, *_homes(tx, (*own, *shared))),
        observers=tuple(estate.observers(conn, (*own, *shared))),
        files=tuple(_file_names(conn, estate)),
    )
    talks = estate.conversations(conn)
    _unquote(tx, estate)
    _mailbox(tx, estate, [row.key for row in talks], own, direct_places(talks))
    loose = _events(tx, estate)
    _turns(tx, estate, loose)
    fresh = [_anew(tx, name, now=now) for name in shared]
    _sessions(tx, estate, own, [row.key for row in talks])
    _places(tx, direct_places(talks))
    _account_rows(tx, estate, grants=grants)
    _jobs(tx, set(estate.names), plan.sessions)
    search.clear(tx)
    return plan, [name for name in fresh if name is not None]


def _file_names(conn: Connection, estate: Estate) -> list[str]:
    """Return the names of files in the folder of files, received ones and those of answers."""
    there = sa.select(file.c.name).where(
        file.c.turn.in_(estate.turns()), file.c.state != "dropped"
    )
    return list(conn.execute(there).scalars())


def _homes(tx: Tx, sources: Sequence[SessionId]) -> list[SessionId]:
    """Give up the further places of sessions at the memory service; return their names."""
    found: set[SessionId] = set()
    for some in chunks(list(sources)):
        here = session_home.c.source.in_(some)
        found |= set(tx.conn.execute(sa.select(session_home.c.name).where(here)).scalars())
        tx.conn.execute(sa.delete(session_home).where(here))
    return sorted(found.difference(sources))


def _unquote(tx: Tx, estate: Estate) -> None:
    """Take their words out of other people's replies to them, and out of the raw payloads."""
    where = (inbox.c.platform, inbox.c.account, inbox.c.place, inbox.c.message)
    theirs = {tuple(row) for row in tx.conn.execute(sa.select(*where).where(estate.received()))}
    places = {key[:3] for key in theirs}
    replies = sa.select(inbox.c.id, inbox.c.event, *where).where(
        inbox.c.event.is_not(None), sa.not_(estate.received())
    )
    for row in tx.conn.execute(replies).all():
        here = (row.platform, row.account, row.place)
        if here not in places:
            continue
        reply = row.event.get("reply") or {}
        values: dict[str, Any] = {"raw": None}
        if (*here, reply.get("message")) in theirs:
            values["event"] = {**row.event, "reply": {"message": reply["message"]}}
        tx.conn.execute(sa.update(inbox).where(inbox.c.id == row.id).values(**values))


def _mailbox(
    tx: Tx,
    estate: Estate,
    talks: Sequence[str],
    sessions: Sequence[str],
    places: Sequence[tuple[str, str, str]],
) -> None:
    """Delete work that is theirs; whoever runs it now loses the lease and so cannot write."""
    parts = sa.select(outbox.c.id).where(_their_parts(estate, places))
    events = sa.select(inbox.c.id).where(estate.received())
    payload = item.c.payload
    tx.conn.execute(
        sa.delete(item).where(
            sa.or_(
                payload["inbox"].as_integer().in_(events),
                payload["part"].as_integer().in_(parts),
                payload["turn"].as_string().in_(estate.turns()),
            )
        )
    )
    for some in chunks([*talks, *sessions]):
        tx.conn.execute(sa.delete(item).where(item.c.key.in_(some)))
    for one in sessions:
        begins = item.c.key.startswith(f"{one}/", autoescape=True)
        tx.conn.execute(sa.delete(item).where(item.c.lane == "prefetch", begins))
    for some in chunks(["/".join(one) for one in places]):
        tx.conn.execute(sa.delete(item).where(item.c.lane == "deliver", item.c.key.in_(some)))
    tx.conn.execute(sa.delete(outbox).where(_their_parts(estate, places)))


def _their_parts(estate: Estate, places: Sequence[tuple[str, str, str]]) -> sa.ColumnElement[bool]:
    here = (
        sa.and_(outbox.c.platform == one[0], outbox.c.account == one[1], outbox.c.place == one[2])
        for one in places
    )
    named = (
        outbox.c.key.contains(":".join(filter(None, one)), autoescape=True)
        for one in estate.accounts
        if one.user_id
    )
    return sa.or_(outbox.c.turn.in_(estate.turns()), *here, *named)


def _events(tx: Tx, estate: Estate) -> list[int]:
    """Delete their events but for the digests; return messages that belong to no turn."""
    columns = (inbox.c.platform, inbox.c.account, inbox.c.place, inbox.c.message, inbox.c.revision)
    found = tx.conn.execute(
        sa.select(inbox.c.id, inbox.c.message_id, *columns).where(estate.received())
    ).all()
    loose = [row.message_id for row in found if row.message_id is not None]
    erased.keep(tx, found)
    tx.conn.execute(sa.delete(file).where(file.c.turn.in_(estate.turns())))
    tx.conn.execute(sa.delete(ledger).where(estate.remembered()))
    for some in chunks([row.id for row in found]):
        tx.conn.execute(sa.delete(inbox).where(inbox.c.id.in_(some)))
    return loose


def _turns(tx: Tx, estate: Estate, loose: Sequence[int]) -> None:
    tx.conn.execute(sa.delete(message).where(message.c.turn.in_(estate.turns())))
    for some in chunks(loose):
        tx.conn.execute(sa.delete(message).where(message.c.id.in_(some)))
    tx.conn.execute(sa.delete(turn).where(estate.said()))


def _anew(tx: Tx, name: SessionId, *, now: datetime) -> SessionId | None:
    """Let the others' rows of a shared session be written again, into a session in its place."""
    tx.conn.execute(
        sa.update(ledger)
        .where(
            ledger.c.session_number == sessions.number(name), ledger.c.state == LedgerState.SAVED
        )
        .values(state=LedgerState.DUE, attempts=0, look_at=None)
    )
    record = sending.record(tx.conn, name)
    if record is None or record.replaced_by is not None:
        return None
    original = f"{name}\n{record.ordinal}"
    owner = names.owner(tx.conn, names.SESSION)
    fresh = SessionId(naming.pick(naming.hashed(name, original), original, owner))
    names.take(tx, names.SESSION, fresh, original)
    sending.supersede(tx, record, fresh, now=now)
    sending.move_rows(tx, name, fresh)
    return fresh


def _sessions(tx: Tx, estate: Estate, own: Sequence[SessionId], talks: Sequence[str]) -> None:
    for table in (recall, snapshot, memory_write):
        tx.conn.execute(sa.delete(table).where(table.c.peer.in_(estate.peers)))
    tx.conn.execute(sa.delete(session_member).where(session_member.c.peer.in_(estate.peers)))
    for some in chunks(list(own)):
        for table, column in (
            (recall, recall.c.session),
            (snapshot, snapshot.c.session),
            (session_member, session_member.c.session),
            (session, session.c.id),
        ):
            tx.conn.execute(sa.delete(table).where(column.in_(some)))
        ended = sa.update(conversation).where(conversation.c.session.in_(some))
        tx.conn.execute(ended.values(session=None))
        held = taken_name.c.kind == names.SESSION, taken_name.c.name.in_(some)
        tx.conn.execute(sa.delete(taken_name).where(*held))
    for some in chunks(list(talks)):
        tx.conn.execute(sa.delete(conversation).where(conversation.c.key.in_(some)))
    tx.conn.execute(sa.delete(recall).where(recall.c.session.in_(_replaced())))
    tx.conn.execute(
        sa.delete(taken_name).where(
            taken_name.c.kind == names.PEER, taken_name.c.name.in_(estate.peers)
        )
    )


def _replaced() -> sa.Select[Any]:
    return sa.select(session.c.id).where(session.c.replaced_by.is_not(None))


def _places(tx: Tx, places: Iterable[tuple[str, str, str]]) -> None:
    for platform, account, name in places:
        here = place.c.platform == platform, place.c.account == account, place.c.place == name
        tx.conn.execute(sa.delete(place).where(*here))


def _account_rows(tx: Tx, estate: Estate, *, grants: bool) -> None:
    gone = [person, pairing, *([access_grant] if grants else [])]
    gone += [table for name in ("question",) if (table := metadata.tables.get(name)) is not None]
    for table in gone:
        tx.conn.execute(sa.delete(table).where(estate.owns(table)))
    for one in estate.accounts:
        _links(tx, *one)
        written = ":".join(filter(None, one))
        if one.user_id:
            named = fact.c.name.endswith(f":{written}", autoescape=True)
            tx.conn.execute(sa.delete(fact).where(named))
    for column in (hand_note.c.observer, hand_note.c.observed, hand_note.c.holder):
        tx.conn.execute(sa.delete(hand_note).where(column.in_(estate.peers)))
    _history(tx, set(estate.names) | {one.user_id for one in estate.accounts if one.user_id})
    _unparsed(tx, [one.user_id.encode() for one in estate.accounts if one.user_id])


def _links(tx: Tx, platform: str, scope: str, user: str) -> None:
    for table in (link, link_request):
        for before in ("", "anchor_", "other_"):
            if f"{before}platform" not in table.c:
                continue
            columns = (table.c[f"{before}{each}"] for each in ("platform", "scope", "user_id"))
            same = (
                column == value
                for column, value in zip(columns, (platform, scope, user), strict=True)
            )
            tx.conn.execute(sa.delete(table).where(*same))


def _history(tx: Tx, known: set[str]) -> None:
    """Take their accounts and names out of the changes of who is who."""
    for row in tx.conn.execute(sa.select(identity_change.c.id, identity_change.c.edits)).all():
        kept = [edit for edit in row.edits if not known & _words(edit)]
        if len(kept) == len(row.edits):
            continue
        mine = identity_change.c.id == row.id
        tx.conn.execute(sa.update(identity_change).where(mine).values(edits=kept, reason=""))


def _jobs(tx: Tx, known: set[str], sessions: Sequence[str]) -> None:
    """Delete jobs that were about them alone; of the others nothing names them any more."""
    columns = (rehome_job.c.id, rehome_job.c.people, rehome_job.c.at_session)
    for row in tx.conn.execute(sa.select(*columns)).all():
        mine = rehome_job.c.id == row.id
        if row.people and set(row.people) <= known:
            tx.conn.execute(sa.delete(rehome_job).where(mine))
            continue
        values: dict[str, Any] = {"notes": []}
        if row.people:
            values["people"] = [one for one in row.people if one not in known]
        if row.at_session in sessions:
            values |= {"at_session": "", "at_seq": 0}
        tx.conn.execute(sa.update(rehome_job).where(mine).values(**values))


def _words(value: Any) -> set[str]:
    if isinstance(value, str):
        return {value, value.rpartition(":")[2]}
    if isinstance(value, list | tuple):
        return set().union(*map(_words, value))
    return set()


def _unparsed(tx: Tx, ids: Sequence[bytes]) -> None:
    """Delete updates that could not be read and have one of their ids in them."""
    for row in tx.conn.execute(sa.select(set_aside.c.id, set_aside.c.raw)).all():
        raw = zlib.decompress(row.raw)
        if any(one in raw for one in ids):
            tx.conn.execute(sa.delete(set_aside).where(set_aside.c.id == row.id))


# --- jobs ----------------------------------------------------------------------------------------


def begin(tx: Tx, id_: str, plan: Plan, *, by: str, now: datetime) -> None:
    """Keep what is left to do until it is done."""
    values = {"id": id_, "plan": asdict(plan), "asked_by": by, "started_at": now}
    tx.conn.execute(sa.insert(erasure).values(**values))


def unfinished(conn: Connection) -> list[tuple[str, Plan]]:
    """Return the erasures that are not done, the oldest first."""
    rows = conn.execute(sa.select(erasure.c.id, erasure.c.plan).order_by(erasure.c.started_at))
    return [
        (row.id, Plan(**{key: tuple(value) for key, value in row.plan.items()})) for row in rows
    ]


def finish(tx: Tx, id_: str, plan: Plan) -> None:
    """All is done: nothing of it stays, also not what was fetched for them meanwhile."""
    for table in (recall, snapshot):
        tx.conn.execute(sa.delete(table).where(table.c.peer.in_(plan.peers)))
        for some in chunks(plan.sessions):
            tx.conn.execute(sa.delete(table).where(table.c.session.in_(some)))
    tx.conn.execute(sa.delete(erasure).where(erasure.c.id == id_))
