"""``aliases``: which account is which person, with preview, history and undo."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gateway.cli.changing import (
    ReasonOption,
    RehomeFlag,
    YesFlag,
    author,
    change,
    edit_line,
    follow,
    people_service,
    plain,
    preview_lines,
    print_preview,
    told,
)
from gateway.cli.common import MISUSED, JsonFlag, fail, friendly, show

if TYPE_CHECKING:
    from gateway.people import AliasView, Change, People, Record

group = typer.Typer(help="Which account is which person.", no_args_is_help=True)

AccountArgument = Annotated[
    str, typer.Argument(metavar="ACCOUNT", help="telegram:7654321, slack:T0AB:U0CD, or an id.")
]
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The person, such as mira.")]


@group.command("list")
def list_(as_json: JsonFlag = False) -> None:
    """Show every alias, where it stands, and which accounts it names."""
    with friendly():
        with people_service() as service:
            found = asyncio.run(service.aliases())
        show([plain(one) for one in found], as_json=as_json, human=lambda: _print_aliases(found))


@group.command("set")
def set_(
    account: AccountArgument,
    name: NameArgument,
    *,
    reason: ReasonOption = "",
    yes: YesFlag = False,
    rehome: RehomeFlag = None,
    as_json: JsonFlag = False,
) -> None:
    """Say that an account is a person; shows first who moves and who is merged."""

    async def make(service: People) -> Change:
        return service.aliased({account: name})

    with friendly():
        change(make, reason=reason, yes=yes, rehome=rehome, as_json=as_json)


@group.command()
def remove(
    account: AccountArgument,
    *,
    reason: ReasonOption = "",
    yes: YesFlag = False,
    rehome: RehomeFlag = None,
    as_json: JsonFlag = False,
) -> None:
    """Take an alias away; the account goes by its own id then."""

    async def make(service: People) -> Change:
        wanted = service.aliased({account: None})
        known = {one.key for one in await service.aliases()}
        for path in wanted.values:
            if path[1] not in known:
                fail(f"{path[1]} has no alias; see: hermes-gateway aliases list", MISUSED)
        return wanted

    with friendly():
        change(make, reason=reason, yes=yes, rehome=rehome, as_json=as_json)


@group.command()
def preview(
    account: AccountArgument,
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Left out: as if it were removed.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Show what setting or removing an alias would do, and change nothing."""
    with friendly():
        with people_service() as service:
            found = asyncio.run(service.preview(service.aliased({account: name})))
        show(plain(found), as_json=as_json, human=lambda: print_preview(found))


@group.command()
def history(
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 20,
    as_json: JsonFlag = False,
) -> None:
    """Show who changed what and why, the newest first; edits of the file by hand too."""
    with friendly():
        with people_service() as service:
            found = asyncio.run(service.history(limit))
        show([_told(one) for one in found], as_json=as_json, human=lambda: _print_history(found))


@group.command()
def undo(
    change_id: Annotated[int, typer.Argument(metavar="CHANGE", help="Its number in history.")],
    *,
    reason: ReasonOption = "",
    yes: YesFlag = False,
    rehome: RehomeFlag = None,
    as_json: JsonFlag = False,
) -> None:
    """Take a change back, whichever way it was made."""
    with friendly():
        with people_service() as service:

            async def seen() -> Any:
                return await service.preview(await service.undoing(change_id))

            found = asyncio.run(seen())
            if not as_json:
                for line in preview_lines(found):
                    typer.echo(line)
            if not yes and not as_json:
                _confirm()
            result = asyncio.run(service.undo(change_id, author=author(reason)))
        told(result, as_json=as_json)
        follow(result, author(reason), wanted=rehome, quiet=yes or as_json)


def _confirm() -> None:
    import sys

    if sys.stdin.isatty():
        typer.confirm("Take it back?", abort=True)


def _told(record: Record) -> dict[str, Any]:
    return {**plain(record), "edits": [{"key": e.key, **plain(e)} for e in record.edits]}


def _print_aliases(found: tuple[AliasView, ...]) -> None:
    if not found:
        typer.echo("No aliases: every account is a person of its own.")
        typer.echo("For example: hermes-gateway aliases set telegram:7654321 mira")
    for one in found:
        seen = "" if one.accounts else "  (has not written yet)"
        typer.echo(f"{one.key} → {one.target}{seen}  {one.recorded_in}")


def _print_history(found: tuple[Record, ...]) -> None:
    if not found:
        typer.echo("Nothing was changed yet.")
    for one in found:
        why = f": {one.reason}" if one.reason else ""
        back = f", undone by {one.undone_by}" if one.undone_by is not None else ""
        back += f", undoes {one.undoes}" if one.undoes is not None else ""
        typer.echo(f"{one.id}  {one.at:%Y-%m-%d %H:%M} UTC by {one.actor}{why}{back}")
        for edit in one.edits:
            typer.echo(f"     {edit_line(edit).removeprefix('edit    ')}")
