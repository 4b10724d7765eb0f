"""``pairing``: let people in by their codes."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gateway.cli.common import JsonFlag, existing_store, fail, friendly, home, loaded, show

if TYPE_CHECKING:
    from gateway.store.pairing import Request

group = typer.Typer(help="People who asked to be let in.", no_args_is_help=True)


@group.command()
def approve(
    code: Annotated[str, typer.Argument(help="The code that the person was given.")],
    admin: Annotated[
        bool, typer.Option("--admin", help="Also let them approve others and use admin commands.")
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """Let a person in. They are told, and the running gateway knows at once."""
    with friendly():
        from gateway import app

        with existing_store(home()) as store:
            desk = app.pairing_desk(home(), loaded())
            result = asyncio.run(
                store.write(lambda tx: desk.approve(tx, code, admin=admin, by="command line"))
            )
        if isinstance(result, Exception):
            fail(f"{result}; see them with: hermes-gateway pairing list")
        told = {**_request(result), "admin": admin}
        right = " as admin" if admin else ""
        show(told, as_json=as_json, human=lambda: typer.echo(f"Let in{right}: {_line(told)}"))


@group.command("list")
def list_(as_json: JsonFlag = False) -> None:
    """Show who waits and who was let in."""
    with friendly():
        from gateway.ops.clock import SystemClock
        from gateway.store import pairing, people

        now = SystemClock().now()
        with existing_store(home()) as store:
            waiting = asyncio.run(store.read(lambda conn: pairing.waiting(conn, None, now=now)))
            grants = asyncio.run(store.read(people.grants))
        result = {
            "waiting": [_request(one) for one in waiting],
            "granted": [
                {
                    "account": ":".join(filter(None, row[:3])),
                    "name": row.name or "",
                    "admin": row.admin,
                    "granted_by": row.granted_by,
                    "granted_at": row.granted_at.isoformat(),
                }
                for row in grants
            ],
        }
        show(result, as_json=as_json, human=lambda: _print_list(result))


@group.command()
def revoke(
    account: Annotated[str, typer.Argument(help="As listed, for example telegram:7654321.")],
    as_json: JsonFlag = False,
) -> None:
    """Take back what a pairing gave. What was said stays."""
    with friendly():
        from gateway import app

        with existing_store(home()) as store:
            desk = app.pairing_desk(home(), loaded())
            done = asyncio.run(store.write(lambda tx: desk.revoke(tx, account, by="command line")))
        if not done:
            fail(f"{account} was not let in by pairing; see: hermes-gateway pairing list")
        result = {"account": account, "revoked": True}
        show(result, as_json=as_json, human=lambda: typer.echo(f"No longer let in: {account}"))


def _request(request: Request) -> dict[str, Any]:
    return {
        "account": ":".join(filter(None, request.account)),
        "asked_at": request.created_at.isoformat(),
        "expires_at": request.expires_at.isoformat(),
    }


def _line(told: dict[str, Any]) -> str:
    return f"{told['account']} ({told['name']})" if told.get("name") else str(told["account"])


def _print_list(result: dict[str, Any]) -> None:
    if not result["waiting"] and not result["granted"]:
        typer.echo("Nobody has asked yet. Whoever writes to the bot is given a code.")
    for one in result["waiting"]:
        typer.echo(f"waiting  {_line(one)}, until {one['expires_at'][:16]} UTC")
    for one in result["granted"]:
        right = "admin  " if one["admin"] else "let in "
        typer.echo(f"{right}  {_line(one)}, {one['granted_at'][:16]} UTC by {one['granted_by']}")
