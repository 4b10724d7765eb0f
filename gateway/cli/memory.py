"""``memory``: how far what was said has reached the memory service."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

import typer

from gateway.cli import thinking
from gateway.cli.common import (
    MISUSED,
    JsonFlag,
    existing_store,
    fail,
    friendly,
    home,
    loaded,
    show,
)
from gateway.cli.layout import columns
from gateway.cli.service import service_of
from gateway.text.counted import counted

if TYPE_CHECKING:
    from gateway.settings.home import Home
    from gateway.settings.read import Loaded
    from gateway.store.engine import Tx
    from gateway.store.peers import Known
    from gateway.store.sessions import Listed

group = typer.Typer(help="What is remembered, and what still waits.", no_args_is_help=True)


@group.command()
def status(as_json: JsonFlag = False) -> None:
    """Show the memory service, how it is, and how many messages it has."""
    with friendly():
        found = _status(home(), loaded())
        show(found, as_json=as_json, human=lambda: _print_status(found))


def _status(place: Home, configuration: Loaded) -> dict[str, Any]:
    from gateway.ops import health
    from gateway.store import ledger
    from gateway.store.lock import ProcessLock

    settings, honcho = configuration.settings, configuration.honcho
    found: dict[str, Any] = {
        "provider": settings.memory.provider,
        "service": service_of(configuration),
        "workspace": honcho.workspace,
        "write_frequency": honcho.write_frequency,
        "save_messages": honcho.save_messages,
        "running": ProcessLock(place.lock).holder() is not None,
        "state": {},
        "messages": {},
        "thinking": {},
    }
    if place.database.exists():
        with existing_store(place) as store:
            found["state"] = asyncio.run(store.read(health.memory_service))
            found["messages"] = asyncio.run(store.read(ledger.counts))
            if settings.memory.provider == "builtin":
                found["thinking"] = asyncio.run(store.read(thinking.read))
    return found


def _print_status(found: dict[str, Any]) -> None:
    code = found["state"].get("code")
    state = "not running" if not found["running"] else f"in trouble ({code})" if code else "well"
    typer.echo(f"service    {found['service']} ({found['provider']}), {state}")
    typer.echo(f"workspace  {found['workspace']}")
    saved = f"written {found['write_frequency']}" if found["save_messages"] else "nothing is saved"
    typer.echo(f"saving     {saved}")
    told = ", ".join(f"{number} {kind}" for kind, number in found["messages"].items())
    typer.echo(f"messages   {told or 'none yet'}")
    for line in thinking.lines(found["thinking"]):
        typer.echo(line)


@group.command()
def peers(as_json: JsonFlag = False) -> None:
    """Show who has said something here, by which accounts, and how much of it is saved."""
    with friendly():
        from gateway.store import peers as rows

        with existing_store(home()) as store:
            found = [_told(one) for one in asyncio.run(store.read(rows.known))]
        show(found, as_json=as_json, human=lambda: _print_peers(found))


def _told(one: Known | Listed) -> dict[str, Any]:
    return {
        key: value.isoformat() if isinstance(value, datetime) else value
        for key, value in asdict(one).items()
    }


def _print_peers(found: list[dict[str, Any]]) -> None:
    if not found:
        typer.echo("Nobody has spoken yet.")
        return
    rows = [
        (
            one["peer"],
            "the agent" if one["agent"] else ", ".join(one["accounts"]),
            f"{one['saved']} of {one['messages']}",
            one["last_message"][:16].replace("T", " "),
        )
        for one in found
    ]
    typer.echo("\n".join(columns(("peer", "accounts", "saved", "last (utc)"), rows)))


@group.command()
def sessions(as_json: JsonFlag = False) -> None:
    """Show every memory session: whose it is, and its lastSavedIndex."""
    with friendly():
        from gateway.store import sessions as rows

        with existing_store(home()) as store:
            found = [_told(one) for one in asyncio.run(store.read(rows.listed))]
        show(found, as_json=as_json, human=lambda: _print_sessions(found))


def _print_sessions(found: list[dict[str, Any]]) -> None:
    if not found:
        typer.echo("Nobody has spoken yet.")
        return
    rows = [
        (
            one["session"],
            one["peer"] or "several",
            f"{one['last_saved_index']} of {one['messages']}",
            "open" if one["open"] else f"closed ({one['close_reason']})",
            one["conversation"],
        )
        for one in found
    ]
    head = ("session", "peer", "lastSavedIndex", "state", "conversation")
    typer.echo("\n".join(columns(head, rows)))


@group.command()
def queue(as_json: JsonFlag = False) -> None:
    """Show what the memory service does not have, by session, without any text."""
    with friendly():
        from gateway.store import sending

        with existing_store(home()) as store:
            rows = asyncio.run(store.read(sending.summary))
        found = [{**row._mapping, "oldest": row.oldest.isoformat()} for row in rows]
        show(found, as_json=as_json, human=lambda: _print_queue(found))


def _print_queue(found: list[dict[str, Any]]) -> None:
    if not found:
        typer.echo("The memory service has everything.")
    for row in found:
        state = " ".join(filter(None, (row["state"], row["reason"])))
        typer.echo(f"{row['session']}  {row['rows']} {state}, since {row['oldest'][:16]} UTC")


@group.command()
def flush(as_json: JsonFlag = False) -> None:
    """Send all that waits now, whatever writeFrequency says."""
    with friendly():
        from gateway.settings.read import needs_service_problem
        from gateway.store.lock import ProcessLock

        if problem := needs_service_problem(loaded()):
            fail(problem, MISUSED)
        with existing_store(home()) as store:
            asked = asyncio.run(store.write(_ask_for_all))
        running = ProcessLock(home().lock).holder() is not None
        result = {"sessions": asked, "running": running}
        show(result, as_json=as_json, human=lambda: _print_flush(result))


def _ask_for_all(tx: Tx) -> int:
    from gateway.mailbox.remote import RemoteMailbox
    from gateway.memory.lane import Wake
    from gateway.ops.clock import SystemClock
    from gateway.store import sending

    wake = Wake(RemoteMailbox(SystemClock()))
    waiting = sending.sessions_with_rows(tx.conn)
    for name in waiting:
        wake(tx, name, everything=True)
    return len(waiting)


def _print_flush(result: dict[str, Any]) -> None:
    if not result["sessions"]:
        typer.echo("Nothing waits.")
    elif result["running"]:
        typer.echo(f"Asked the running gateway to send {counted(result['sessions'], 'session')}.")
    else:
        waiting = counted(result["sessions"], "session")
        typer.echo(f"Waiting for the next hermes-gateway run: {waiting}.")
