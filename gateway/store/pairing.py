"""Pairing requests of strangers. Codes are stored as keyed hashes only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlalchemy as sa

from gateway.model.outbound import Address
from gateway.store.people import Account
from gateway.store.tables import pairing

if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any

    from gateway.store.engine import Tx


@dataclass(frozen=True, slots=True)
class Request:
    """One stranger's wish to be let in."""

    id: str
    account: Account
    address: Address
    language: str
    code_hash: str
    created_at: datetime
    expires_at: datetime


def waiting(conn: sa.Connection, platform: str | None, *, now: datetime) -> list[Request]:
    """Return the requests that can still be approved, oldest first."""
    statement = sa.select(pairing).where(pairing.c.state == "waiting", pairing.c.expires_at > now)
    if platform is not None:
        statement = statement.where(pairing.c.platform == platform)
    return [_request(row) for row in conn.execute(statement.order_by(pairing.c.created_at))]


def last_request(conn: sa.Connection, account: Account) -> datetime | None:
    """Return when the account last asked and was not let in since."""
    return conn.execute(
        sa.select(sa.func.max(pairing.c.created_at)).where(
            pairing.c.platform == account.platform,
            pairing.c.scope == account.scope,
            pairing.c.user_id == account.user_id,
            pairing.c.state != "approved",
        )
    ).scalar()


def language_of(conn: sa.Connection, request_id: str) -> str:
    """Return the language a request's letter is written in."""
    statement = sa.select(pairing.c.language).where(pairing.c.id == request_id)
    return conn.execute(statement).scalar() or "en"


def add(tx: Tx, request: Request) -> None:
    """Store a new request."""
    tx.conn.execute(
        sa.insert(pairing).values(
            id=request.id,
            platform=request.account.platform,
            account=request.address.account,
            scope=request.account.scope,
            user_id=request.account.user_id,
            language=request.language,
            place=request.address.place,
            thread=request.address.thread,
            code_hash=request.code_hash,
            state="waiting",
            created_at=request.created_at,
            expires_at=request.expires_at,
        )
    )


def conclude(tx: Tx, request_id: str, state: str) -> None:
    """Say what became of a request."""
    tx.conn.execute(sa.update(pairing).where(pairing.c.id == request_id).values(state=state))


def _request(row: sa.Row[Any]) -> Request:
    return Request(
        id=row.id,
        account=Account(row.platform, row.scope, row.user_id),
        address=Address(row.platform, row.account, row.place, row.thread),
        language=row.language,
        code_hash=row.code_hash,
        created_at=row.created_at,
        expires_at=row.expires_at,
    )
