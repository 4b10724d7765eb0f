"""Accounts that were seen, and what they were granted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import sqlalchemy as sa

from gateway.store import statements
from gateway.store.tables import access_grant, person

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from gateway.store.engine import Tx


class Account(NamedTuple):
    """One account of one platform; ``scope`` is "" where the platform has one id space."""

    platform: str
    scope: str
    user_id: str


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of one account that wrote."""

    account: Account
    #: as ``SenderKind``
    kind: str
    name: str
    language: str
    alternatives: tuple[str, ...]
    first_seen: datetime
    last_seen: datetime


def seen(
    tx: Tx,
    account: Account,
    *,
    name: str,
    language: str,
    now: datetime,
    kind: str = "person",
    alternatives: Sequence[str] = (),
) -> bool:
    """Note an account's present name and language; a rename changes nothing else.

    Returns whether this is the first time.
    """
    present = {
        "kind": kind,
        "name": name,
        "language": language,
        "alternatives": list(alternatives),
        "last_seen": now,
    }
    statement = statements.insert(tx.conn, person).values(
        **account._asdict(), **present, first_seen=now
    )
    noted = statement.on_conflict_do_update(
        index_elements=["platform", "scope", "user_id"], set_=present
    )
    first = tx.conn.execute(noted.returning(person.c.first_seen)).scalar_one()
    return bool(first == now)


def known(conn: sa.Connection) -> list[Known]:
    """Return every account that was seen, in the order in which they first wrote."""
    columns = (
        person.c.platform,
        person.c.scope,
        person.c.user_id,
        person.c.kind,
        person.c.name,
        person.c.language,
        person.c.alternatives,
        person.c.first_seen,
        person.c.last_seen,
    )
    rows = conn.execute(sa.select(*columns).order_by(person.c.first_seen, person.c.user_id))
    return [
        Known(
            account=Account(row.platform, row.scope, row.user_id),
            kind=row.kind,
            name=row.name,
            language=row.language,
            alternatives=tuple(row.alternatives or ()),
            first_seen=row.first_seen,
            last_seen=row.last_seen,
        )
        for row in rows
    ]


def count(conn: sa.Connection) -> int:
    """Return how many accounts were seen."""
    return statements.count(conn, person)


def _is(table: sa.Table, account: Account) -> sa.ColumnElement[bool]:
    return sa.and_(
        table.c.platform == account.platform,
        table.c.scope == account.scope,
        table.c.user_id == account.user_id,
    )


def name_of(conn: sa.Connection, account: Account) -> str:
    """Return an account's last display name, or ""."""
    found = conn.execute(sa.select(person.c.name).where(_is(person, account))).scalar()
    return found or ""


def grant_of(conn: sa.Connection, account: Account) -> tuple[bool, bool]:
    """Return (paired, admin) of an account."""
    admin = conn.execute(
        sa.select(access_grant.c.admin).where(_is(access_grant, account))
    ).scalar()
    return admin is not None, bool(admin)


def grant(tx: Tx, account: Account, *, admin: bool, by: str, now: datetime) -> None:
    """Let an account in. An admin who is granted again stays admin."""
    statement = statements.insert(tx.conn, access_grant).values(
        **account._asdict(), admin=admin, granted_by=by, granted_at=now
    )
    tx.conn.execute(
        statement.on_conflict_do_update(
            index_elements=["platform", "scope", "user_id"],
            set_={
                "admin": sa.or_(access_grant.c.admin, statement.excluded.admin),
                "granted_by": by,
                "granted_at": now,
            },
        )
    )


def set_admin(tx: Tx, account: Account, *, admin: bool) -> bool:
    """Say whether an account that was let in is an admin; False when it was not let in."""
    changed = sa.update(access_grant).where(_is(access_grant, account)).values(admin=admin)
    return tx.conn.execute(changed).rowcount == 1


def revoke(tx: Tx, account: Account) -> bool:
    """Take an account's grant away; False when it had none."""
    return tx.conn.execute(sa.delete(access_grant).where(_is(access_grant, account))).rowcount == 1


def grants(conn: sa.Connection) -> list[sa.Row[tuple[str, str, str, bool, str, datetime, str]]]:
    """Return every grant with the account's last display name."""
    joined = access_grant.outerjoin(
        person,
        sa.and_(
            person.c.platform == access_grant.c.platform,
            person.c.scope == access_grant.c.scope,
            person.c.user_id == access_grant.c.user_id,
        ),
    )
    columns = (*access_grant.c, person.c.name)
    return list(
        conn.execute(sa.select(*columns).select_from(joined).order_by(access_grant.c.granted_at))
    )
