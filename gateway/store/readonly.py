"""Looking into a home's database from outside, without a chance of changing it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import quote

import sqlalchemy as sa

from gateway.store import migrate, statements
from gateway.store.engine import translate
from gateway.store.people import Account
from gateway.store.tables import access_grant, item, outbox, person, set_aside, turn

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gateway.store.engine import Connection


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
    except sa.exc.SQLAlchemyError as error:
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
