"""``import``: taking conversations over from another product."""

from __future__ import annotations

import asyncio
import sys
from contextlib import contextmanager
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gateway.cli.common import (
    MISUSED,
    JsonFlag,
    existing_store,
    fail,
    friendly,
    home,
    loaded,
    note,
    show,
)
from gateway.text.counted import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gateway.ops.importing import HermesImport, Report
    from gateway.settings.home import Home
    from gateway.settings.read import Loaded
    from gateway.store.engine import Store

group = typer.Typer(no_args_is_help=True, help="Take conversations over from another product.")


@group.callback()
def _group() -> None:
    """Keep the group a group while it has one command."""


@group.command()
def hermes(
    path: Annotated[
        Path | None,
        typer.Argument(help="A home of Hermes Agent, or its state.db.", show_default="this home"),
    ] = None,
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be taken over, and change nothing.")
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """Take Hermes Agent's conversations over into search, each as its person's.

    Its database is only read. Nothing goes to the memory service. Run it again whenever you
    like: only what is new is added.
    """
    with friendly():
        place = home()
        source = _source(path or place.path)
        settings = loaded()
        report = _planned(place, settings, source) if dry_run else _run(place, settings, source)
        result = {**report.plain(), "dry_run": dry_run, "from": str(source)}
        show(result, as_json=as_json, human=lambda: _print(result))


def _source(path: Path) -> Path:
    path = path.expanduser()
    found = path / "state.db" if path.is_dir() else path
    if not found.is_file():
        fail(f"{found} does not exist: name a home of Hermes Agent or its state.db", MISUSED)
    return found


def _planned(place: Home, settings: Loaded, source: Path) -> Report:
    from gateway.store import readonly

    with _importing(settings, source) as make:
        importer = make(lambda _: None)
        if not place.database.exists():
            return importer.plan(None)
        with readonly.look(place.database) as conn:
            return importer.plan(conn)


def _run(place: Home, settings: Loaded, source: Path) -> Report:
    with _importing(settings, source) as make, _store(place, settings) as store:
        return asyncio.run(make(_shown).run(store))


@contextmanager
def _importing(
    settings: Loaded, source: Path
) -> Iterator[Callable[[Callable[[int], None]], HermesImport]]:
    from gateway import app
    from gateway.ops.clock import SystemClock
    from gateway.ops.importing import HermesImport
    from gateway.store import hermes as database

    rules, stand_in = app.rules_of(settings), app.stand_in(settings)
    with database.look(source) as opened:
        yield lambda progress: HermesImport(
            opened,
            rules,
            SystemClock(),
            stand_in=stand_in,
            manifests=app.MANIFESTS,
            progress=progress,
        )


@contextmanager
def _store(place: Home, settings: Loaded) -> Iterator[Store]:
    """Open the database beside whatever runs; a home without one gets it."""
    from gateway import app

    if not place.database.exists():
        asyncio.run(app.open_store(place, settings).close())
    with existing_store(place) as store:
        yield store


def _shown(count: int) -> None:
    if sys.stderr.isatty():
        typer.echo(f"\r{counted(count, 'message')} looked at", nl=False, err=True)


def _print(result: dict[str, Any]) -> None:
    if sys.stderr.isatty() and not result["dry_run"]:
        note("")
    verb = "Would be taken over" if result["dry_run"] else "Taken over"
    typer.echo(
        f"{verb} into search: {counted(result['messages'], 'message')} of "
        f"{counted(result['sessions'], 'conversation')}."
    )
    for peer, count in result["people"].items():
        typer.echo(f"  {peer:<24} {count:>9,}")
    if result["already_known"]:
        typer.echo(f"{counted(result['already_known'], 'message')} had been looked at before.")
    for reason, left in result["left_out"].items():
        typer.echo(
            f"Left out: {counted(left['sessions'], 'conversation')} "
            f"({counted(left['messages'], 'message')}): {_REASONS.get(reason, reason)}"
        )
    if result["dry_run"] and result["messages"]:
        note("Do it with the same command without --dry-run.")


_REASONS = {
    "sub-agent": "work of sub-agents",
    "no account": "no account is named",
    "no person": "by an account of the platform itself, so that it could be anybody",
    "shared by several people": "shared by several people, so nobody can tell who said what",
    "Slack team unknown": "start the gateway with Slack once, so that its team is known",
    "nobody": "no rule names their person: set peerName, or an alias",
}
