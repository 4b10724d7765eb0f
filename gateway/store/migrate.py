"""Bringing a database to the schema of this version, with Alembic's migrations.

Starting on an up-to-date database costs one query: Alembic is imported only when there is
something to do.
"""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy as sa

from gateway.model.errors import StoreError
from gateway.store.engine import translate

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from alembic.config import Config

MIGRATIONS = Path(__file__).resolve().parent.parent.parent / "migrations"

#: the revision that this version of the code works with
HEAD = "0017"


def current(engine: sa.Engine) -> str | None:
    """Return the database's revision, or None when it is empty. Raises ``StoreError``."""
    try:
        with engine.connect() as conn:
            if not sa.inspect(conn).has_table("alembic_version"):
                return None
            revision = conn.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()
    except sa.exc.SQLAlchemyError as error:
        raise translate(error) from None
    return None if revision is None else str(revision)


def upgrade(engine: sa.Engine, revision: str = HEAD) -> tuple[str | None, str]:
    """Migrate up to ``revision`` and return (before, after).

    Either all of it happens or nothing. Raises ``StoreError`` when the database refuses or was
    written by a newer version.
    """
    before = current(engine)
    if before == revision:
        return before, revision
    _run(engine, before, revision, down=False)
    return before, revision


def downgrade(engine: sa.Engine, revision: str) -> None:
    """Migrate down to ``revision`` (``base`` empties the database)."""
    _run(engine, current(engine), revision, down=True)


def _run(engine: sa.Engine, before: str | None, revision: str, *, down: bool) -> None:
    from alembic import command
    from alembic.script import ScriptDirectory

    config = _config()
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if before is not None and before not in known:
        raise StoreError(
            f"the database is at revision {before}, which this version does not know; "
            "use the version that wrote it, or a newer one"
        )
    try:
        with engine.connect() as conn, _unbound(conn), conn.begin():
            _exclude_others(conn)
            config.attributes["connection"] = conn
            (command.downgrade if down else command.upgrade)(config, revision)
            _bound(conn)
    except sa.exc.SQLAlchemyError as error:
        raise translate(error) from None


@contextmanager
def _unbound(conn: sa.Connection) -> Iterator[None]:
    """Let SQLite write a table anew without what refers to its rows being deleted with it.

    Foreign keys can be switched between transactions only; ``_bound`` checks them at the end.
    """
    if conn.dialect.name != "sqlite":
        yield
        return
    driver: sqlite3.Connection = conn.connection.driver_connection  # type: ignore[assignment]
    driver.execute("PRAGMA foreign_keys=OFF")
    try:
        yield
    finally:
        driver.execute("PRAGMA foreign_keys=ON")


def _bound(conn: sa.Connection) -> None:
    if conn.dialect.name != "sqlite":
        return
    astray = conn.execute(sa.text("PRAGMA foreign_key_check")).first()
    if astray is not None:
        raise StoreError(
            f"rows of {astray[0]} refer to rows of {astray[2]} that are not there; nothing was "
            "changed: use the version that wrote this database, or a backup"
        )


def _exclude_others(conn: sa.Connection) -> None:
    """Let processes that start together migrate one by one; SQLite's BEGIN IMMEDIATE does."""
    if conn.dialect.name == "postgresql":
        conn.execute(sa.text("SELECT pg_advisory_xact_lock(hashtext('hermes-gateway migrate'))"))


def _config() -> Config:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    return config
