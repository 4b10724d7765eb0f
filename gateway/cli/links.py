"""``links``: accounts that people joined themselves, and those that wait for an admin."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gateway.cli.common import JsonFlag, existing_store, fail, friendly, home, loaded, show

if TYPE_CHECKING:
    from gateway.store.links import Request

group = typer.Typer(help="Accounts that their own people joined with /link.", no_args_is_help=True)

_BY = "command line"


@group.command("list")
def list_(as_json: JsonFlag = False) -> None:
    """Show every link, and those that wait for an admin's yes."""
    with friendly():
        from gateway.ops.clock import SystemClock
        from gateway.pipeline.addresses import written
        from gateway.store import links

        now = SystemClock().now()
        with existing_store(home()) as store:
            found = asyncio.run(store.read(links.listed))
            waiting = asyncio.run(
                store.read(lambda conn: links.in_state(conn, links.APPROVAL, now=now))
            )
        result = {
            "links": [
                {
                    "account": written(one.account),
                    "with": written(one.anchor),
                    "since": one.since.isoformat(),
                }
                for one in found
            ],
            "waiting": [_request(one) for one in waiting],
        }
        show(result, as_json=as_json, human=lambda: _print_list(result))


@group.command()
def approve(
    code: Annotated[str, typer.Argument(help="The code that the two were given.")],
    as_json: JsonFlag = False,
) -> None:
    """Say yes to a link that waits (access.link_approval)."""
    _decide(code, "approve", "One person now", as_json=as_json)


@group.command()
def deny(
    code: Annotated[str, typer.Argument(help="The code that the two were given.")],
    as_json: JsonFlag = False,
) -> None:
    """Say no to a link that waits. Nobody is told."""
    _decide(code, "deny", "Still two", as_json=as_json)


@group.command()
def remove(
    account: Annotated[str, typer.Argument(help="As listed, for example telegram:7654321.")],
    as_json: JsonFlag = False,
) -> None:
    """Take an account's links away; the people behind it are told. Nothing said is lost."""
    with friendly():
        from gateway import app
        from gateway.store.people import Account

        platform, *scope, user = account.split(":") if ":" in account else (account, "")
        who = Account(platform, ":".join(scope), user)
        with existing_store(home()) as store:
            desk = app.linking_desk(home(), loaded())
            done = asyncio.run(store.write(lambda tx: desk.separate(tx, who, by=_BY)))
        if not done:
            fail(f"{account} is not linked; see: hermes-gateway links list")
        result = {"account": account, "removed": True}
        show(result, as_json=as_json, human=lambda: typer.echo(f"Taken apart: {account}"))


def _decide(code: str, what: str, told: str, *, as_json: bool) -> None:
    with friendly():
        from gateway import app

        with existing_store(home()) as store:
            desk = app.linking_desk(home(), loaded())
            act = desk.approve if what == "approve" else desk.deny
            request = asyncio.run(store.write(lambda tx: act(tx, code, by=_BY)))
        if request is None:
            fail("no link waits under this code; see: hermes-gateway links list")
        result = _request(request)
        line = f"{told}: {result['account']} and {result['with']}"
        show(result, as_json=as_json, human=lambda: typer.echo(line))


def _request(request: Request) -> dict[str, Any]:
    from gateway.pipeline.addresses import written

    return {
        "account": written(request.account),
        "with": written(request.other) if request.other else "",
        "expires_at": request.expires_at.isoformat(),
    }


def _print_list(result: dict[str, Any]) -> None:
    if not result["links"] and not result["waiting"]:
        typer.echo("Nobody has linked anything. People do it with /link in a direct message.")
    for one in result["waiting"]:
        typer.echo(f"waiting  {one['account']} and {one['with']}, until {one['expires_at'][:16]}")
    for one in result["links"]:
        typer.echo(f"linked   {one['account']} with {one['with']}, {one['since'][:16]} UTC")
