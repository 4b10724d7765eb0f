"""What every command that changes who is who does alike: preview, ask, apply, tell."""

from __future__ import annotations

import asyncio
import getpass
import sys
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gateway.cli.common import FAILED, chosen_profile, existing_store, home, note, show
from gateway.text.counted import counted

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

    from gateway.people import Applied, Change, Conflict, People, Preview, Rehoming

YesFlag = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
RehomeFlag = Annotated[
    bool | None,
    typer.Option("--rehome/--no-rehome", help="Let memory follow at once, or not; else it asks."),
]
ReasonOption = Annotated[str, typer.Option("--reason", help="Why; kept in the history.")]


@contextmanager
def people_service(*, create: bool = False) -> Iterator[People]:
    """Open the service on the home; ``create``: also where nothing has happened in it yet."""
    from gateway import app
    from gateway.ops import logs
    from gateway.settings.schema import LogSettings

    place = home()
    if place.database.exists():
        with existing_store(place) as store:
            yield app.people_desk(place, store, profile=chosen_profile())
    elif create:
        logs.configure(LogSettings(level="warning"), ())
        store = app.open_store(place, app.load(place, profile=chosen_profile()))
        try:
            yield app.people_desk(place, store, profile=chosen_profile())
        finally:
            asyncio.run(store.close())
    else:
        yield app.people_desk(place, None, profile=chosen_profile())


def change(
    make: Callable[[People], Awaitable[Change]],
    *,
    reason: str,
    yes: bool,
    rehome: bool | None,
    as_json: bool,
) -> None:
    """Show what a change would do, ask, make it and tell what became of it.

    ``rehome``: memory is to follow at once; None asks on a terminal.
    """
    result = made(make, reason=reason, yes=yes, as_json=as_json)
    told(result, as_json=as_json)
    follow(result, author(reason), wanted=rehome, quiet=yes or as_json)


def made(
    make: Callable[[People], Awaitable[Change]], *, reason: str, yes: bool, as_json: bool
) -> Applied | Conflict:
    """Show what a change would do, ask, make it; return what became of it."""
    with people_service(create=True) as service:

        async def seen() -> Preview:
            return await service.preview(await make(service))

        preview = asyncio.run(seen())
        if not as_json:
            print_preview(preview)
        if not preview.problems and preview.edits:
            _ask(yes or as_json)
        return asyncio.run(
            service.apply(preview.change, expected=preview.revision, author=author(reason))
        )


def follow(result: Applied | Conflict, who: Any, *, wanted: bool | None, quiet: bool) -> None:
    """Offer that memory follows a change that was made."""
    from gateway.people import Applied

    if not isinstance(result, Applied) or not result.preview.rehoming.sessions:
        return
    if wanted is None and not quiet and sys.stdin.isatty():
        wanted = typer.confirm("Let memory follow now?", default=True)
    if not wanted:
        note("Memory stays where it is until you say: hermes-gateway people rehome")
        return
    concerned = {peer for move in result.preview.moves for peer in (move.before, move.after)}
    let_follow(who, sorted(concerned))


def let_follow(who: Any, concerned: Sequence[str]) -> None:
    """Begin to let the memory of some peers follow; a running gateway does the work."""
    with rehoming_service() as service:
        job = asyncio.run(service.start(who, concerned))
    note(f"Memory follows as job {job.id}; see: hermes-gateway people rehome --status")


@contextmanager
def rehoming_service() -> Iterator[Rehoming]:
    """Open what lets memory follow identity; the home must have a database."""
    from gateway import app

    with existing_store(home()) as store:
        people = app.people_desk(home(), store, profile=chosen_profile())
        yield app.rehoming_desk(people, store)


def author(reason: str) -> Any:
    """Return who gives commands here."""
    from gateway.people import Author

    try:
        user = getpass.getuser()
    except (OSError, KeyError):
        user = ""
    return Author(f"command line ({user})" if user else "command line", reason)


def _ask(sure: bool) -> None:
    if not sure and sys.stdin.isatty():
        typer.confirm("Save this?", abort=True)


def told(result: Applied | Conflict, *, as_json: bool) -> None:
    """Tell what became of a change; a conflict ends the command with 1."""
    from gateway.people import Conflict

    if isinstance(result, Conflict):
        if as_json:
            show({"conflict": True, **plain(result)}, as_json=True, human=lambda: None)
        else:
            _print_conflict(result)
        raise typer.Exit(FAILED)
    show(
        {"conflict": False, **plain(result)}, as_json=as_json, human=lambda: _print_applied(result)
    )


def _print_applied(result: Applied) -> None:
    if result.id is None:
        typer.echo("It is so already; nothing was changed.")
        return
    typer.echo(f"Saved as change {result.id}. A running gateway follows within two seconds.")
    typer.echo(f"To take it back: hermes-gateway aliases undo {result.id}")


def _print_conflict(conflict: Conflict) -> None:
    note("Nothing was saved: somebody changed the aliases meanwhile.")
    for record in conflict.since:
        why = f" ({record.reason})" if record.reason else ""
        note(f"  change {record.id} by {record.actor}, {record.at:%Y-%m-%d %H:%M} UTC{why}")
        for edit in record.edits:
            note(f"    {edit_line(edit)}")
    note("What your change would do now:")
    for line in preview_lines(conflict.preview):
        note(f"  {line}")
    note("Give the command again to make it.")


def print_preview(preview: Preview) -> None:
    """Print what a change would do."""
    for line in preview_lines(preview):
        typer.echo(line)


def preview_lines(preview: Preview) -> list[str]:
    """Return what a change would do, for people."""
    lines = [edit_line(edit) for edit in preview.edits] or ["nothing changes in the file"]
    for move in preview.moves:
        name = f" ({move.name})" if move.name else ""
        lines.append(f"moves   {move.account}{name}: {move.before} → {move.after}")
    lines += [f"merges  {', '.join(one.others)} → {one.peer}" for one in preview.merges]
    lines += [f"splits  {one.peer} → {', '.join(one.others)}" for one in preview.splits]
    lines += [f"awaited {key}: has not written yet" for key in preview.awaited]
    if preview.edits and not preview.moves:
        lines.append("nobody who has written moves")
    lines += [f"stays   {one.text}" for one in preview.remains]
    needed = preview.rehoming
    if needed.sessions:
        lines.append(
            f"memory  {counted(needed.messages, 'message')} in "
            f"{counted(needed.sessions, 'session')} of theirs can "
            f"follow, about {counted(needed.calls, 'request')}"
        )
    lines += [f"warning {line}" for line in preview.warnings]
    lines += [f"refused {line}" for line in preview.problems]
    return lines


def edit_line(edit: Any) -> str:
    """Return one changed key."""
    before, after = (_value(value) for value in (edit.before, edit.after))
    return f"edit    {edit.key}: {before} → {after}"


def _value(value: str | bool | None) -> str:
    if value is None:
        return "—"
    return str(value).lower() if isinstance(value, bool) else f'"{value}"'


def plain(value: Any) -> Any:
    """Return a value of the service as JSON has it."""
    match value:
        case datetime():
            return value.isoformat()
        case _ if is_dataclass(value):
            if hasattr(value, "values") and len(fields(value)) == 1:
                return [{"path": list(path), "value": to} for path, to in value.values.items()]
            return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
        case tuple() | list():
            return [plain(one) for one in value]
    return value
