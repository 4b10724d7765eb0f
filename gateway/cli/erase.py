"""``erase``: take a person out of the gateway, its files and the memory service."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gateway.cli.common import FAILED, JsonFlag, existing_store, fail, friendly, home, loaded, show

if TYPE_CHECKING:
    from gateway.people.erasure import Left
    from gateway.settings.read import Loaded
    from gateway.store.engine import Store
    from gateway.store.estate import Holdings


def erase(
    person: Annotated[
        str, typer.Argument(metavar="PERSON", help="A peer's name or an account: telegram:42.")
    ],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Erase a person: what they said and were told, their notes, files, accounts and links.

    In groups only their own messages go. It cannot be undone. Shows first how much there is.
    """
    with friendly():
        configuration = loaded()
        with existing_store(home()) as store:
            from gateway import app

            desk = app.erasure_desk(home(), configuration, store)
            counts = asyncio.run(desk.preview(person.strip()))
            mentions = _mentions(configuration, counts)
            if not yes:
                _ask(person, counts, mentions, as_json=as_json)
            counts, left = asyncio.run(_run(configuration, store, person.strip()))
        result = _told(counts, left, mentions)
        show(result, as_json=as_json, human=lambda: _print(person, result))
        if left.service:
            raise typer.Exit(FAILED)


async def _run(configuration: Loaded, store: Store, person: str) -> tuple[Holdings, Left]:
    from gateway import app

    desk = app.erasure_desk(home(), configuration, store)
    counts = await desk.erase(person, by="command line")
    own = configuration.settings.memory.provider != "honcho"
    async with app.memory_of(configuration, store) as memory:
        return counts, await desk.carry_on(memory, own_service=own)


def _ask(person: str, counts: Holdings, mentions: list[str], *, as_json: bool) -> None:
    _print_counts(person, asdict(counts), err=True)
    for line in mentions:
        typer.echo(f"note: {line}", err=True)
    if as_json:
        fail("nothing was erased: add --yes")
    try:
        sure = typer.confirm("Erase all of it for good?", err=True)
    except typer.Abort:
        sure = False
    if not sure:
        fail("nothing was erased")


def _mentions(configuration: Loaded, counts: Holdings) -> list[str]:
    """Return where the operator's own files name the person: those are not touched."""
    settings, honcho = configuration.settings, configuration.honcho
    found = []
    for account in counts.accounts:
        platform, _, user = account.rpartition(":")
        if account in settings.access.admins:
            found.append(f"access.admins names {account}")
        if user in settings.access.allow.get(platform, ()):
            found.append(f"access.allow.{platform} names {user}")
    ids = {one.rpartition(":")[2] for one in counts.accounts} | set(counts.accounts)
    for key, target in honcho.user_peer_aliases.items():
        if key in ids or key.rpartition(":")[2] in ids or target in counts.peers:
            found.append(f'userPeerAliases names "{key}"')
    if honcho.peer_name in counts.peers:
        found.append(f'peerName is "{honcho.peer_name}"')
    return found


def _told(counts: Holdings, left: Left, mentions: list[str]) -> dict[str, Any]:
    return {
        "erased": asdict(counts),
        "waiting_for_service": left.service,
        "compacted": left.compacted,
        "still_named_by": mentions,
    }


def _print(person: str, result: dict[str, Any]) -> None:
    typer.echo(f"Erased: {person}")
    _print_counts(person, result["erased"], err=False)
    if reason := result["waiting_for_service"]:
        typer.echo(f"The memory service has not forgotten yet: {reason}")
        typer.echo("The gateway goes on by itself once it runs and the service answers.")
    if not result["compacted"]:
        typer.echo("The database was in use: remains of deleted rows go when the gateway is idle.")
    for line in result["still_named_by"]:
        typer.echo(f"Not touched: {line}")


def _print_counts(person: str, counts: dict[str, Any], *, err: bool) -> None:
    rows = {
        "accounts": ", ".join(counts["accounts"]) or "none",
        "peers": ", ".join(counts["peers"]),
        "turns": counts["turns"],
        "messages": counts["messages"],
        "files": counts["files"],
        "sessions": f"{len(counts['sessions'])} of their own, "
        f"{len(counts['shared_sessions'])} shared (rebuilt without them)",
        "notes": counts["notes"],
    }
    for name, value in rows.items():
        typer.echo(f"  {name:<9} {value}", err=err)
