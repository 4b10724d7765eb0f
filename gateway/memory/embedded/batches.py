"""What waits to be thought about, cut into batches, and how findings are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import sqlalchemy as sa

from gateway.memory.embedded import pairs, sessions, tables
from gateway.memory.embedded.deriver import Batch, Held, Line
from gateway.memory.embedded.errors import NotFoundError
from gateway.memory.embedded.values import PairRef, SessionRef, new_id
from gateway.store import statements

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gateway.memory.embedded.deriver import Finding
    from gateway.store.engine import Tx

#: messages and characters that one request is made from at most
MOST_MESSAGES, MOST_CHARACTERS = 20, 8000
#: earlier lines of the session that help to understand a batch, and characters of each
_CONTEXT, _CONTEXT_CHARACTERS = 6, 600

pair, message, heard = tables.pair, tables.message, tables.observation
conclusion, evidence = tables.conclusion, tables.evidence


class PeerRef(NamedTuple):
    """Whom it is about: the key of the lane, for one worker at a time may think about a peer."""

    workspace: str
    peer: str

    @property
    def key(self) -> str:
        """The lane's key; ids hold no slash."""
        return f"{self.workspace}/{self.peer}"

    @classmethod
    def parse(cls, key: str) -> PeerRef:
        """Return the peer that a key of the lane names."""
        return cls(*key.split("/", 1))


def _waiting(ref: PeerRef) -> sa.ColumnElement[bool]:
    return sa.and_(heard.c.waiting, pair.c.workspace == ref.workspace, pair.c.observed == ref.peer)


def peers(conn: sa.Connection) -> list[PeerRef]:
    """Return everybody about whom something waits."""
    rows = conn.execute(
        sa.select(pair.c.workspace, pair.c.observed)
        .join(heard, heard.c.pair == pair.c.id)
        .where(heard.c.waiting)
        .distinct()
    )
    return [PeerRef(*row) for row in rows.tuples()]


def size(conn: sa.Connection, ref: PeerRef) -> int:
    """Return how many characters wait, as the pair counts them that has the most."""
    rows = conn.execute(
        sa.select(sa.func.sum(sa.func.length(message.c.content)))
        .select_from(heard)
        .join(pair, pair.c.id == heard.c.pair)
        .join(message, message.c.id == heard.c.message)
        .where(_waiting(ref))
        .group_by(heard.c.pair)
    )
    return max((int(each) for each in rows.scalars()), default=0)


def counts(conn: sa.Connection, workspace: str | None = None) -> dict[SessionRef, int]:
    """Return how many derivations wait by session: one for each peer that spoke there."""
    query = (
        sa.select(
            message.c.workspace,
            message.c.session,
            sa.func.count(sa.distinct(message.c.peer)),
        )
        .join(heard, heard.c.message == message.c.id)
        .where(heard.c.waiting)
        .group_by(message.c.workspace, message.c.session)
    )
    if workspace is not None:
        query = query.where(message.c.workspace == workspace)
    return {SessionRef(space, name): n for space, name, n in conn.execute(query).tuples()}


def following(conn: sa.Connection, ref: PeerRef) -> list[Batch]:
    """Return the oldest batch of each pair that has to think about this peer."""
    rows = conn.execute(
        sa.select(pair.c.id, pair.c.observer).where(
            pair.c.workspace == ref.workspace,
            pair.c.observed == ref.peer,
            sa.exists().where(heard.c.pair == pair.c.id, heard.c.waiting),
        )
    ).tuples()
    return [
        _batch(conn, number, PairRef(ref.workspace, observer, ref.peer))
        for number, observer in rows.all()
    ]


def _batch(conn: sa.Connection, number: int, ref: PairRef) -> Batch:
    query = (
        sa.select(message)
        .join(heard, heard.c.message == message.c.id)
        .where(heard.c.pair == number, heard.c.waiting)
        .order_by(message.c.id)
        .limit(MOST_MESSAGES)
    )
    rows = conn.execute(query).mappings().all()
    taken: list[sa.RowMapping] = []
    room = MOST_CHARACTERS
    for row in rows:
        room -= len(row["content"])
        if row["session"] != rows[0]["session"] or (taken and room < 0):
            break
        taken.append(row)
    session = SessionRef(ref.workspace, taken[0]["session"])
    own = {row["id"] for row in taken}
    around = _around(conn, ref, session, first=taken[0]["seq"], last=taken[-1]["seq"])
    lines = sorted(
        [*taken, *(row for row in around if row["id"] not in own)], key=lambda row: row["seq"]
    )
    return Batch(
        ref,
        number,
        session.session,
        tuple(_line(row, own=row["id"] in own) for row in lines),
        held(conn, number),
    )


def _around(
    conn: sa.Connection, ref: PairRef, session: SessionRef, *, first: int, last: int
) -> Sequence[sa.RowMapping]:
    """Return what else was said there, if the observer takes part and so has read it.

    Whoever only observes takes part too; one that has left is shown nothing of the others.
    """
    member = tables.membership
    there = sa.select(member.c.peer).where(
        member.c.workspace == session.workspace,
        member.c.session == session.session,
        member.c.peer == ref.observer,
    )
    if conn.execute(there).scalar() is None:
        return []
    query = (
        sa.select(message)
        .where(
            message.c.workspace == session.workspace,
            message.c.session == session.session,
            message.c.seq >= first - _CONTEXT,
            message.c.seq <= last,
        )
        .order_by(message.c.seq)
        .limit(_CONTEXT + 2 * MOST_MESSAGES)
    )
    return conn.execute(query).mappings().all()


def _line(row: sa.RowMapping, *, own: bool) -> Line:
    most = MOST_CHARACTERS if own else _CONTEXT_CHARACTERS
    return Line(row["id"], row["peer"], row["content"][:most], row["created_at"], own)


def held(conn: sa.Connection, number: int) -> tuple[Held, ...]:
    """Return what a pair knows already, newest first: conclusions, then lines of its card."""
    query = (
        sa.select(conclusion.c.content, conclusion.c.created_at, conclusion.c.id)
        .where(conclusion.c.pair == number, conclusion.c.replaced_by.is_(None))
        .order_by(conclusion.c.id.desc())
        .limit(pairs.HORIZON)
    )
    concluded = [Held(*row) for row in conn.execute(query).tuples()]
    card = conn.execute(sa.select(pair.c.card).where(pair.c.id == number)).scalar()
    return (*concluded, *(Held(line) for line in card or ()))


# --- keeping what was found ------------------------------------------------------------------


def keep(tx: Tx, batch: Batch, findings: Sequence[Finding], *, origin: str) -> list[int]:
    """Store findings and mark the batch as thought about; return the new conclusions' rows.

    Nothing is kept of messages that were deleted meanwhile.
    """
    try:
        sessions.require(tx.conn, SessionRef(batch.ref.workspace, batch.session), lock=True)
    except NotFoundError:
        return []
    own = [line.number for line in batch.lines if line.own]
    done = sa.update(heard).where(heard.c.pair == batch.pair, heard.c.message.in_(own))
    tx.conn.execute(done.values(waiting=False))
    here = {each.text.casefold(): each.number for each in held(tx.conn, batch.pair)}
    made = [_keep(tx, batch, each, origin, here) for each in findings]
    return [number for number in made if number is not None]


def _keep(
    tx: Tx, batch: Batch, found: Finding, origin: str, here: dict[str, int | None]
) -> int | None:
    known = here.get(found.text.casefold())
    if known is not None:
        # said again: it has one more message that it hangs on
        _support(tx, known, found.evidence)
        newer = sa.and_(conclusion.c.id == known, conclusion.c.created_at < found.at)
        tx.conn.execute(sa.update(conclusion).where(newer).values(created_at=found.at))
        return None
    row = {
        "public_id": new_id(),
        "pair": batch.pair,
        "session": batch.session,
        "content": found.text,
        "level": "explicit",
        "created_at": found.at,
        "origin": origin,
        "lasting": found.lasting,
    }
    insert = sa.insert(conclusion).values(row).returning(conclusion.c.id)
    number = int(tx.conn.execute(insert).scalar_one())
    here[found.text.casefold()] = number
    _support(tx, number, found.evidence)
    _replace(tx, batch.pair, number, found)
    return number


def _support(tx: Tx, number: int, messages: Sequence[int]) -> None:
    rows = [{"conclusion": number, "message": each} for each in messages]
    tx.conn.execute(statements.insert(tx.conn, evidence).values(rows).on_conflict_do_nothing())


def _replace(tx: Tx, number: int, new: int, found: Finding) -> None:
    """Let the newer of two that contradict each other hold, in whatever order they came."""
    for old in found.replaces:
        if old.number is None:
            _strike(tx, number, old.text)
            continue
        older = old.at is None or old.at <= found.at
        loser, winner = (old.number, new) if older else (new, old.number)
        beaten = sa.and_(conclusion.c.pair == number, conclusion.c.id == loser)
        tx.conn.execute(sa.update(conclusion).where(beaten).values(replaced_by=winner))


def _strike(tx: Tx, number: int, line: str) -> None:
    card = tx.conn.execute(
        sa.select(pair.c.card).where(pair.c.id == number).with_for_update()
    ).scalar()
    left = [each for each in card or () if each != line]
    tx.conn.execute(sa.update(pair).where(pair.c.id == number).values(card=left))
