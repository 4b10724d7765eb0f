"""``db upgrade``: bring the database to this version's schema."""

from __future__ import annotations

import typer

from gateway.cli.common import JsonFlag, friendly, home, show

group = typer.Typer(help="The database.", no_args_is_help=True)


@group.command()
def upgrade(as_json: JsonFlag = False) -> None:
    """Migrate the database in the home. `run` does the same when it starts."""
    with friendly():
        from gateway.settings.home import make_private_folder
        from gateway.store import migrate
        from gateway.store.lock import ProcessLock
        from gateway.store.sqlite import SqliteStore

        place = home()
        make_private_folder(place.gateway)
        lock = ProcessLock(place.lock)
        lock.acquire()
        try:
            before, after = migrate.upgrade(SqliteStore(place.database).engine)
        finally:
            lock.release()
        result = {"database": str(place.database), "before": before, "after": after}

        def human() -> None:
            if before == after:
                typer.echo(f"{place.database} is up to date (revision {after}).")
            else:
                typer.echo(f"{place.database}: {before or 'new'} → {after}")

        show(result, as_json=as_json, human=human)
