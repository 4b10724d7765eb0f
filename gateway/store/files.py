"""The files of each turn: where they lie, or why they could not be had. Never their content."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from gateway.model.events import AttachmentKind
from gateway.model.files import FileProblem
from gateway.store import statements
from gateway.store.tables import file

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from gateway.model.files import SentFile
    from gateway.model.ids import TurnId
    from gateway.store.engine import Tx


class FileState(StrEnum):
    """Life of a file."""

    #: to be fetched
    WAITING = "waiting"
    READY = "ready"
    FAILED = "failed"
    #: it has served its time and is deleted
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class StoredFile:
    """One file of a turn."""

    id: int
    message_id: int
    #: its place among the files of its message
    ordinal: int
    kind: AttachmentKind
    #: the sender's name for it, as one line
    label: str
    mime: str
    size: int | None
    #: our own name for it in the folder of files
    name: str
    state: FileState
    problem: FileProblem | None


def plan(tx: Tx, turn: TurnId, new: StoredFile, *, now: datetime) -> None:
    """Write down a file of a turn (``new.id`` is ignored); nothing when it is known."""
    statement = statements.insert(tx.conn, file).values(
        turn=turn,
        message_id=new.message_id,
        ordinal=new.ordinal,
        kind=new.kind,
        label=new.label,
        mime=new.mime,
        size=new.size,
        name=new.name,
        state=new.state,
        problem=new.problem or "",
        created_at=now,
    )
    tx.conn.execute(statement.on_conflict_do_nothing(index_elements=["message_id", "ordinal"]))


def carry(
    tx: Tx, turn: TurnId, message_id: int, sent: Sequence[SentFile], *, now: datetime
) -> list[int]:
    """Write down the files of an answer, which is ``message_id``, and return their ids."""
    return [
        tx.conn.execute(
            sa.insert(file)
            .values(
                turn=turn,
                message_id=message_id,
                ordinal=ordinal,
                kind=AttachmentKind.DOCUMENT,
                label=one.label,
                mime=one.mime,
                size=one.size,
                name=one.name,
                state=FileState.READY,
                created_at=now,
            )
            .returning(file.c.id)
        ).scalar_one()
        for ordinal, one in enumerate(sent)
    ]


def settle(tx: Tx, id_: int, problem: FileProblem | None, *, mime: str, size: int | None) -> None:
    """Write down what became of a file that waited."""
    state = FileState.READY if problem is None else FileState.FAILED
    tx.conn.execute(
        sa.update(file)
        .where(file.c.id == id_)
        .values(state=state, problem=problem or "", mime=mime, size=size)
    )


def of_turn(conn: sa.Connection, turn: TurnId) -> list[StoredFile]:
    """Return a turn's files, by message and by place in it."""
    rows = conn.execute(
        sa.select(file).where(file.c.turn == turn).order_by(file.c.message_id, file.c.ordinal)
    )
    return [_stored(row) for row in rows]


def outdated(conn: sa.Connection, *, before: datetime, limit: int) -> list[tuple[int, str]]:
    """Return (id, name) of files from before a time that may still lie in the folder."""
    rows = conn.execute(
        sa.select(file.c.id, file.c.name)
        .where(file.c.state != FileState.DROPPED, file.c.created_at < before)
        .order_by(file.c.id)
        .limit(limit)
    )
    return [(row.id, row.name) for row in rows]


def drop(tx: Tx, ids: Iterable[int]) -> None:
    """Write down that files were deleted."""
    tx.conn.execute(
        sa.update(file).where(file.c.id.in_(list(ids))).values(state=FileState.DROPPED)
    )


def _stored(row: sa.Row[Any]) -> StoredFile:
    return StoredFile(
        id=row.id,
        message_id=row.message_id,
        ordinal=row.ordinal,
        kind=AttachmentKind(row.kind),
        label=row.label,
        mime=row.mime,
        size=row.size,
        name=row.name,
        state=FileState(row.state),
        problem=FileProblem(row.problem) if row.problem else None,
    )
