"""Outbound parts. A part's text stands here until it is delivered; a file's bytes never."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from gateway.model.files import SentFile
from gateway.model.outbound import Address, Part, PartState, RichText
from gateway.store import codec, statements
from gateway.store.tables import file, outbox

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from gateway.model.choice import Choice
    from gateway.model.ids import MessageId, TurnId
    from gateway.store.engine import Tx

ANSWER = "answer"
NOTICE = "notice"
PAIRING = "pairing"
#: a letter with a code or number of a link, filled in when it is sent
LINK = "link"


@dataclass(frozen=True, slots=True)
class Letter:
    """Something to say: parts in order, to one address. ``key`` is unique and stable."""

    key: str
    address: Address
    contents: Sequence[RichText]
    #: ids of files (``store.files``) that follow the words
    files: Sequence[int] = ()
    purpose: str = NOTICE
    turn: TurnId | None = None
    reply_to: MessageId | None = None
    #: buttons under the last part
    choice: Choice | None = None
    #: the own message that the first part takes the place of
    edits: MessageId | None = None


@dataclass(frozen=True, slots=True)
class StoredPart:
    """A part with what is known of its delivery."""

    id: int
    part: Part
    ordinal: int
    purpose: str
    state: PartState
    attempts: int


def post(tx: Tx, letter: Letter, *, now: datetime) -> list[int]:
    """Store a letter's parts; returns their ids, [] when this letter was posted before."""
    ids = []
    parts: list[dict[str, Any]] = [
        *({"content": _stored(letter, ordinal)} for ordinal in range(len(letter.contents))),
        *({"file": file} for file in letter.files),
    ]
    for ordinal, part in enumerate(parts):
        statement = statements.insert(tx.conn, outbox).values(
            key=f"{letter.key}:{ordinal}",
            turn=letter.turn,
            ordinal=ordinal,
            last=ordinal == len(parts) - 1,
            platform=letter.address.platform,
            account=letter.address.account,
            place=letter.address.place,
            thread=letter.address.thread,
            reply_to=letter.reply_to,
            purpose=letter.purpose,
            state=PartState.WAITING,
            created_at=now,
            updated_at=now,
            **part,
        )
        added = statement.on_conflict_do_nothing(index_elements=["key"]).returning(outbox.c.id)
        part_id = tx.conn.execute(added).scalar_one_or_none()
        if part_id is not None:
            ids.append(part_id)
    return ids


def _stored(letter: Letter, ordinal: int) -> dict[str, Any]:
    """Return a part's text, with its buttons and what it takes the place of."""
    value = codec.content_to_json(letter.contents[ordinal])
    if letter.choice is not None and ordinal == len(letter.contents) - 1:
        value["choice"] = codec.choice_to_json(letter.choice)
    if letter.edits is not None and ordinal == 0:
        value["edits"] = letter.edits
    return value


def load(conn: sa.Connection, part_id: int) -> StoredPart:
    """Return a part; its content is empty once it was delivered."""
    found = find(conn, part_id)
    if found is None:
        raise LookupError("an item names a part that does not exist")
    return found


def find(conn: sa.Connection, part_id: int) -> StoredPart | None:
    """Return a part, None where there is none."""
    carried = (file.c.name, file.c.label, file.c.mime, file.c.size)
    row = conn.execute(
        sa.select(outbox, *(column.label(f"file_{column.name}") for column in carried))
        .outerjoin(file, file.c.id == outbox.c.file)
        .where(outbox.c.id == part_id)
    ).first()
    if row is None:
        return None
    state, held = PartState(row.state), row.content or {}
    part = Part(
        key=row.key,
        address=Address(row.platform, row.account, row.place, row.thread),
        content=codec.content_from_json(held) if held else RichText(""),
        turn=row.turn,
        reply_to=row.reply_to,
        last=row.last,
        choice=codec.choice_from_json(held["choice"]) if "choice" in held else None,
        edits=held.get("edits"),
        file=None
        if row.file is None
        else SentFile(row.file_name, row.file_label, row.file_mime, row.file_size or 0),
        in_doubt=state is PartState.SENDING,
    )
    return StoredPart(row.id, part, row.ordinal, row.purpose, state, row.attempts)


def owed(conn: sa.Connection, where: Address) -> bool:
    """Tell whether anything that was said to a place has not reached it yet."""
    waiting = (
        outbox.c.platform == where.platform,
        outbox.c.account == where.account,
        outbox.c.place == where.place,
        outbox.c.state.in_((PartState.WAITING, PartState.SENDING)),
    )
    return conn.execute(sa.select(outbox.c.id).where(*waiting).limit(1)).first() is not None


def ends_words(conn: sa.Connection, stored: StoredPart) -> bool:
    """Tell whether a part is the last of its turn's answer that is words."""
    words = (
        outbox.c.turn == stored.part.turn,
        outbox.c.purpose == ANSWER,
        outbox.c.file.is_(None),
    )
    last = conn.execute(sa.select(sa.func.max(outbox.c.id)).where(*words)).scalar()
    return last == stored.id


def rewrite(tx: Tx, part_id: int, content: RichText) -> None:
    """Exchange the content of a part that no platform has seen."""
    tx.conn.execute(
        sa.update(outbox)
        .where(outbox.c.id == part_id)
        .values(content=codec.content_to_json(content))
    )


def mark_sending(tx: Tx, part_id: int, *, now: datetime) -> None:
    """Commit that the part is about to be handed to the platform."""
    tx.conn.execute(
        sa.update(outbox)
        .where(outbox.c.id == part_id)
        .values(state=PartState.SENDING, attempts=outbox.c.attempts + 1, updated_at=now)
    )


def mark_waiting(tx: Tx, part_id: int, *, error: str, now: datetime) -> None:
    """Note that the platform certainly did not take the part; it will be tried again."""
    tx.conn.execute(
        sa.update(outbox)
        .where(outbox.c.id == part_id)
        .values(state=PartState.WAITING, error=error, updated_at=now)
    )


def conclude(
    tx: Tx,
    part_id: int,
    state: PartState,
    *,
    now: datetime,
    sent_message: str | None = None,
    error: str = "",
    degraded: str = "",
) -> None:
    """Write a part's final state; a delivered part's text is dropped."""
    values: dict[str, Any] = {
        "state": state,
        "sent_message": sent_message,
        "error": error,
        "degraded": degraded,
        "updated_at": now,
    }
    if state is PartState.DELIVERED:
        values["content"] = sa.null()
    tx.conn.execute(sa.update(outbox).where(outbox.c.id == part_id).values(**values))


def states_of(conn: sa.Connection, turn_id: TurnId) -> list[PartState]:
    """Return the states of a turn's parts in order."""
    rows = conn.execute(
        sa.select(outbox.c.state).where(outbox.c.turn == turn_id).order_by(outbox.c.id)
    )
    return [PartState(state) for state in rows.scalars()]


def undelivered(conn: sa.Connection) -> list[sa.Row[Any]]:
    """Return what waits, failed or is unknown, without its text, oldest first."""
    columns = (
        outbox.c.id,
        outbox.c.turn,
        outbox.c.ordinal,
        outbox.c.purpose,
        outbox.c.platform,
        outbox.c.account,
        outbox.c.place,
        outbox.c.thread,
        outbox.c.state,
        outbox.c.attempts,
        outbox.c.error,
        outbox.c.created_at,
    )
    open_ = outbox.c.state != PartState.DELIVERED
    return list(conn.execute(sa.select(*columns).where(open_).order_by(outbox.c.id)))


def of_turn(conn: sa.Connection, turn_id: TurnId) -> list[sa.Row[Any]]:
    """Return a turn's parts for the trace, without their text."""
    columns = (
        outbox.c.id,
        outbox.c.ordinal,
        outbox.c.purpose,
        outbox.c.state,
        outbox.c.attempts,
        outbox.c.sent_message,
        outbox.c.error,
        outbox.c.degraded,
        outbox.c.updated_at,
    )
    return list(
        conn.execute(sa.select(*columns).where(outbox.c.turn == turn_id).order_by(outbox.c.id))
    )


def counts(conn: sa.Connection) -> dict[str, int]:
    """Return how many parts are in each state."""
    return statements.count_by(conn, outbox.c.state)
