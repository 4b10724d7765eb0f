"""Looking into a home's database from outside, without a chance of changing it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

import sqlalchemy as sa

from gateway.store import migrate, statements
from gateway.store.engine import translate
from gateway.store.people import Account
from gateway.store.tables import access_grant, item, outbox, pairing, person, set_aside, turn

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gateway.store.engine import Connection


class Met(NamedTuple):
    """An account that wrote, or asked to be let in; the latter's name is not known."""

    platform: str
    scope: str
    user_id: str
    name: str
    admin: bool


@contextmanager
def look(path: Path) -> Iterator[Connection]:
    """Open an existing database for reading. Raises ``StoreError`` when it is not readable."""
    address = sa.URL.create(
        "sqlite", database=f"file:{quote(str(path))}", query={"mode": "ro", "uri": "true"}
    )
    engine = sa.create_engine(address, hide_parameters=True)
    try:
        with engine.connect() as conn:
            yield conn
    except (sa.exc.SQLAlchemyError, OverflowError) as error:
        raise translate(error) from None
    finally:
        engine.dispose()


def revision(conn: Connection) -> str | None:
    """Return the schema's revision, None for an empty database."""
    return migrate.current(conn.engine)


def damage(conn: Connection) -> str | None:
    """Return what SQLite finds broken, None for a sound file."""
    verdict = str(conn.execute(sa.text("PRAGMA quick_check(1)")).scalar())
    return None if verdict == "ok" else verdict


def accounts(conn: Connection) -> list[Account]:
    """Return every account that was seen."""
    rows = conn.execute(sa.select(person.c.platform, person.c.scope, person.c.user_id))
    return [Account(*row) for row in rows]


def met(conn: Connection) -> list[Met]:
    """Return every account that wrote, the latest first, and then those that wait to be let in."""
    account = (person.c.platform, person.c.scope, person.c.user_id)
    granted = sa.and_(
        *(one == access_grant.c[one.name] for one in account), access_grant.c.admin.is_(True)
    )
    rows = conn.execute(
        sa.select(*account, person.c.name, access_grant.c.admin)
        .select_from(person.outerjoin(access_grant, granted))
        .order_by(person.c.last_seen.desc())
    )
    found = {
        Account(*row[:3]): Met(row.platform, row.scope, row.user_id, row.name, bool(row.admin))
        for row in rows
    }
    waiting = conn.execute(
        sa.select(pairing.c.platform, pairing.c.scope, pairing.c.user_id)
        .where(pairing.c.state == "waiting")
        .order_by(pairing.c.created_at.desc())
    )
    for row in waiting:
        found.setdefault(Account(*row), Met(row[0], row[1], row[2], "", admin=False))
    return list(found.values())


def failures(conn: Connection) -> dict[str, int]:
    """Return how many turns got no answer, by the code of what went wrong."""
    found = statements.count_by(conn, turn.c.error)
    return {code: number for code, number in found.items() if code}


def attention(conn: Connection) -> dict[str, int]:
    """Return how much waits for an operator's look: unknown parts, set aside, dead, admins."""
    return {
        "unknown": statements.count(conn, outbox, outbox.c.state == "unknown"),
        "aside": statements.count(conn, set_aside),
        "dead": statements.count(conn, item, item.c.state == "dead"),
        "admins": statements.count(conn, access_grant, access_grant.c.admin.is_(True)),
    }
