"""Questions that wait for a button, each put to one account. Only that account may answer."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import sqlalchemy as sa

from gateway.store.columns import metadata, text, time
from gateway.store.people import Account

if TYPE_CHECKING:
    from datetime import datetime

    from gateway.store.engine import Tx

question = sa.Table(
    "question",
    metadata,
    #: unguessable: whoever has it has been asked
    sa.Column("id", sa.Text, primary_key=True),
    #: which part of the product asks, and about what of its own
    text("kind"),
    text("subject"),
    #: the account that was asked
    text("platform"),
    text("scope", default=""),
    text("user_id"),
    text("language", default="en"),
    #: what was asked, as Markdown, until it is answered
    text("words", default=""),
    #: the value of the button that counted
    text("answer", null=True),
    time("asked_at"),
    time("answered_at", null=True),
)


@dataclass(frozen=True, slots=True)
class Question:
    """One stored question."""

    kind: str
    subject: str
    account: Account
    language: str
    words: str
    id: str = ""
    answer: str | None = None


def add(tx: Tx, new: Question, *, now: datetime) -> Question:
    """Store a question and return it with its id."""
    stored = replace(new, id=secrets.token_urlsafe(12))
    tx.conn.execute(
        sa.insert(question).values(
            id=stored.id,
            kind=stored.kind,
            subject=stored.subject,
            **stored.account._asdict(),
            language=stored.language,
            words=stored.words,
            asked_at=now,
        )
    )
    return stored


def find(conn: sa.Connection, id_: str) -> Question | None:
    """Return a question by its id."""
    row = conn.execute(sa.select(question).where(question.c.id == id_)).first()
    if row is None:
        return None
    account = Account(row.platform, row.scope, row.user_id)
    return Question(
        row.kind, row.subject, account, row.language, row.words, id=row.id, answer=row.answer
    )


def close(tx: Tx, id_: str, answer: str, *, now: datetime) -> None:
    """Write down the answer that counted, once; the words go."""
    tx.conn.execute(
        sa.update(question)
        .where(question.c.id == id_, question.c.answer.is_(None))
        .values(answer=answer, words="", answered_at=now)
    )


def forget_answered(tx: Tx, *, before: datetime, limit: int = 1000) -> int:
    """Delete questions answered before ``before``; returns how many."""
    old = sa.select(question.c.id).where(question.c.answered_at < before).limit(limit)
    return tx.conn.execute(sa.delete(question).where(question.c.id.in_(old))).rowcount
