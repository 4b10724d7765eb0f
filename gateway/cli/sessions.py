"""``sessions``: which conversation is in which memory session, and how far it was saved."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gateway.cli.common import JsonFlag, existing_store, fail, friendly, home, show

if TYPE_CHECKING:
    from gateway.store.engine import Connection
    from gateway.store.sessions import Listed

group = typer.Typer(help="Conversations and their memory sessions.", no_args_is_help=True)


@group.command("list")
def list_(as_json: JsonFlag = False) -> None:
    """Show every memory session, the newest first."""
    with friendly():
        from gateway.store import sessions

        with existing_store(home()) as store:
            found = [_told(one) for one in asyncio.run(store.read(sessions.listed))]
        show(found, as_json=as_json, human=lambda: _print_list(found))


@group.command("show")
def show_(
    name: Annotated[
        str, typer.Argument(help="A session's name or a conversation's key, as listed.")
    ],
    as_json: JsonFlag = False,
) -> None:
    """Show one session, or all of one conversation, with their members."""
    with friendly():
        with existing_store(home()) as store:
            found = asyncio.run(store.read(lambda conn: _with_members(conn, name)))
        if not found:
            fail(f"there is no session {name}; see: hermes-gateway sessions list")
        show(found, as_json=as_json, human=lambda: _print_sessions(found))


def _with_members(conn: Connection, name: str) -> list[dict[str, Any]]:
    from gateway.store import members, sessions

    found = []
    for one in sessions.listed(conn, of=name):
        flags = {peer: asdict(each) for peer, each in members.of(conn, one.session).items()}
        found.append({**_told(one), "members": flags})
    return found


def _told(one: Listed) -> dict[str, Any]:
    return {
        key: value.isoformat() if isinstance(value, datetime) else value
        for key, value in asdict(one).items()
    }


def _print_list(found: list[dict[str, Any]]) -> None:
    if not found:
        typer.echo("Nobody has spoken yet.")
    for one in found:
        state = "open" if one["open"] else f"closed ({one['close_reason']})"
        saved = f"{one['last_saved_index']} of {one['messages']} settled"
        typer.echo(f"{one['conversation']}\n  {one['session']}  {state}, {saved}")


def _print_sessions(found: list[dict[str, Any]]) -> None:
    _print_list(found[:1])
    for one in found:
        typer.echo("")
        for key, value in one.items():
            if key != "members" and value not in (None, ""):
                typer.echo(f"{key:<17} {value}")
        for peer, flags in one["members"].items():
            told = ", ".join(name for name, on in flags.items() if on) or "observes nobody"
            typer.echo(f"member            {peer}: {told}")
