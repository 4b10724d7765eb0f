"""``people``: everybody who talks to the gateway, and which accounts are theirs."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gateway.cli.changing import ReasonOption, RehomeFlag, YesFlag, change, people_service, plain
from gateway.cli.common import JsonFlag, fail, friendly, show
from gateway.text.counted import counted

if TYPE_CHECKING:
    from gateway.people import AccountView, Change, People, PersonView

group = typer.Typer(help="Everybody who talks to the gateway.", no_args_is_help=True)

#: stands for all accounts of a pinned gateway
_EVERYONE = "everyone"

PersonArgument = Annotated[str, typer.Argument(metavar="PERSON", help="As people list shows it.")]


@group.command("list")
def list_(
    search: Annotated[
        str, typer.Argument(metavar="[SEARCH]", help="Part of a name, a peer or an id.")
    ] = "",
    as_json: JsonFlag = False,
) -> None:
    """Show people with their accounts, whoever wrote last first."""
    with friendly():
        with people_service() as service:
            found = asyncio.run(service.people(search))
        show([_told(one) for one in found], as_json=as_json, human=lambda: _print_list(found))


@group.command("show")
def show_(person: PersonArgument, as_json: JsonFlag = False) -> None:
    """Show one person: accounts, what names them, and how much was said."""
    with friendly():
        with people_service() as service:
            found = asyncio.run(service.people())
        one = next((each for each in found if person in _names(each)), None)
        if one is None:
            fail(f"there is no person {person}; see: hermes-gateway people list")
        show(_told(one), as_json=as_json, human=lambda: _print_person(one))


@group.command()
def merge(
    source: Annotated[str, typer.Argument(metavar="PERSON", help="Whose accounts move.")],
    into: Annotated[str, typer.Argument(metavar="INTO", help="The person they are to be.")],
    *,
    reason: ReasonOption = "",
    yes: YesFlag = False,
    rehome: RehomeFlag = None,
    as_json: JsonFlag = False,
) -> None:
    """Say that two people are one: all accounts of PERSON become INTO's."""

    async def make(service: People) -> Change:
        return await service.merging(source, into)

    with friendly():
        change(make, reason=reason, yes=yes, rehome=rehome, as_json=as_json)


@group.command()
def split(
    account: Annotated[
        str,
        typer.Argument(
            metavar="ACCOUNT", help="Such as telegram:7654321; everyone: switch pinUserPeer off."
        ),
    ],
    to: Annotated[
        str | None, typer.Option("--to", help="The person's name; left out: the account's id.")
    ] = None,
    *,
    reason: ReasonOption = "",
    yes: YesFlag = False,
    rehome: RehomeFlag = None,
    as_json: JsonFlag = False,
) -> None:
    """Make an account a person of its own."""

    async def make(service: People) -> Change:
        if account == _EVERYONE:
            return await service.unpinning()
        return await service.splitting(account, to)

    with friendly():
        change(make, reason=reason, yes=yes, rehome=rehome, as_json=as_json)


def _names(person: PersonView) -> tuple[str, ...]:
    return (person.peer, *(one.key for one in person.accounts))


def _told(person: PersonView) -> dict[str, Any]:
    last = person.last_seen
    return {
        **plain(person),
        "names": list(person.names),
        "language": person.language,
        "last_seen": last.isoformat() if last else None,
        "sessions": person.sessions,
        "messages": person.messages,
    }


def _print_list(found: tuple[PersonView, ...]) -> None:
    if not found:
        typer.echo("Nobody was found.")
    for one in found:
        owner = ", owner" if one.owner else ""
        typer.echo(f"{one.peer}{owner}  {_seen(one)}, {counted(one.messages, 'message')}")
        for account in one.accounts:
            name = f" ({account.name})" if account.name else ""
            typer.echo(f"  {account.key}{name}  by {account.rung}")
        for key in one.awaited:
            typer.echo(f"  {key}  has not written yet")


def _seen(person: PersonView) -> str:
    last = person.last_seen
    return f"last seen {last:%Y-%m-%d %H:%M} UTC" if last else "has not written yet"


def _print_person(person: PersonView) -> None:
    _print_list((person,))
    for account in person.accounts:
        typer.echo("")
        for label, value in _facts(account):
            typer.echo(f"{label:<11} {value}")


def _facts(account: AccountView) -> list[tuple[str, str]]:
    first = account.first_seen
    told = [
        ("account", account.key),
        ("named by", f"{account.rung}, {account.source}"),
        ("recorded in", account.recorded_in),
        ("language", account.language),
        ("first seen", f"{first:%Y-%m-%d %H:%M} UTC" if first else ""),
        (
            "said",
            f"{counted(account.messages, 'message')} in {counted(account.sessions, 'session')}",
        ),
    ]
    return [(label, value) for label, value in told if value]
