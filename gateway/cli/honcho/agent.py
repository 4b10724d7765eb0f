"""``honcho identity`` and ``honcho peers``: who the agents are at the service."""

from __future__ import annotations

import json
import os
from pathlib import Path  # noqa: TC003  (the command line reads it)
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gateway.cli.common import FAILED, MISUSED, JsonFlag, fail, friendly, home, loaded, note, show
from gateway.cli.honcho.changes import write_beside
from gateway.cli.honcho.status import overview
from gateway.cli.layout import columns, pairs
from gateway.cli.service import ask, needs_service
from gateway.text.counted import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gateway.memory.seed import Handed, SeedRules
    from gateway.model.ids import PeerId
    from gateway.ports import Memory
    from gateway.settings.home import Home
    from gateway.settings.read import Loaded


def identity(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", show_default=False, help="What says who the agent is."),
    ] = None,
    show_it: Annotated[
        bool, typer.Option("--show", help="The agent's card and representation (as without FILE).")
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """Show what the service knows of the agent, or give it a FILE that says who the agent is."""
    with friendly():
        if file is not None and show_it:
            fail("give a FILE to seed from, or --show; not both", MISUSED)
        configuration = loaded()
        needs_service(configuration)
        if file is None:
            found = _known(home(), configuration)
            show(found, as_json=as_json, human=lambda: _print_known(found))
        else:
            result = _seed(file, configuration)
            show(result, as_json=as_json, human=lambda: _print_seeded(result))


def _seed(file: Path, configuration: Loaded) -> dict[str, Any]:
    from gateway import app
    from gateway.memory.seed import hand_over
    from gateway.settings.files import UnreadableError

    rules = app.rules_of(configuration).seed
    if reason := rules.capture.skip_agent:
        fail(f"{reason} says that nothing of the agent's goes to the service", MISUSED)
    try:
        handed = hand_over(file.expanduser(), rules)
    except UnreadableError as error:
        fail(f"{file}: {error.problem}", MISUSED)
    parts = ask(configuration, lambda memory: _upload(memory, handed, rules))
    _record(handed)
    return {
        "file": file.name,
        "peer": rules.capture.agent_peer,
        "session": handed.session,
        "workspace": rules.workspace,
        "parts": parts,
    }


async def _upload(memory: Memory, handed: Handed, rules: SeedRules) -> int:
    from gateway.memory.seed import upload
    from gateway.ops.clock import SystemClock

    capture = rules.capture
    await memory.register_agent(capture.agent, capture.agent_peer)
    return await upload(
        memory,
        handed.source,
        handed.text,
        handed.record,
        limit=capture.part_limit,
        now=SystemClock().now(),
    )


def _record(handed: Handed) -> None:
    """Note it where there is a database; the service itself takes it once in any case."""
    from gateway.memory.seed import note as note_seed
    from gateway.ops.clock import SystemClock

    now = SystemClock().now()
    write_beside(home(), lambda tx: note_seed(tx, handed.source, handed.record, now=now))


def _print_seeded(result: dict[str, Any]) -> None:
    typer.echo(f"{result['peer']} has {result['file']}: {counted(result['parts'], 'part')}.")
    typer.echo("The service thinks about it in the background; a running gateway looks again")
    typer.echo("within ten minutes. To see it: hermes-gateway honcho identity --show")


def _known(place: Home, configuration: Loaded) -> dict[str, Any]:
    from gateway import app
    from gateway.memory.seed import seed_session
    from gateway.model.memory import ContextQuery

    capture = app.rules_of(configuration).seed.capture
    agent, session = capture.agent_peer, seed_session(capture.agent, capture.agent_peer)

    async def look(memory: Memory) -> tuple[tuple[str, ...], str]:
        known = await memory.context(ContextQuery(session, target=agent))
        return await memory.card(agent, agent) or known.card, known.representation

    card, representation = ask(configuration, look)
    return {
        "peer": agent,
        "workspace": configuration.honcho.workspace,
        "card": list(card),
        "representation": representation,
        "seeded": _seeded(place, agent),
        "files": [
            each.name for each in (place.soul, place.identity, place.agents) if each.exists()
        ],
    }


def _seeded(place: Home, agent: PeerId) -> list[dict[str, str]]:
    """Return which files the agent's peer was given from here, the newest last."""
    from gateway.memory.seed import SEEDED
    from gateway.model.errors import StoreError
    from gateway.store import facts, readonly

    if not place.database.exists():
        return []
    try:
        with readonly.look(place.database) as conn:
            found = facts.starting_with(conn, SEEDED).values()
    except StoreError:
        return []
    rows = sorted((at.isoformat(), json.loads(value)) for value, at in found)
    return [
        {"file": row["file"], "session": row["session"], "at": at}
        for at, row in rows
        if row["peer"] == agent
    ]


def _print_known(found: dict[str, Any]) -> None:
    seeded = [
        f"{each['file']}, {each['at'][:16].replace('T', ' ')} UTC" for each in found["seeded"]
    ]
    nothing = "nothing yet"
    rows = [
        ("agent", f"{found['peer']} in workspace {found['workspace']}"),
        ("card", "\n".join(found["card"]) or nothing),
        ("representation", found["representation"] or nothing),
        ("seeded", "\n".join(seeded) or nothing),
        ("files", ", ".join(found["files"]) or "none of SOUL.md, IDENTITY.md, AGENTS.md"),
    ]
    typer.echo("\n".join(pairs(rows)))
    if not found["seeded"]:
        typer.echo("\nGive the agent an identity: hermes-gateway honcho identity SOUL.md")


def peers(as_json: JsonFlag = False) -> None:
    """Show who is who in every profile, and the agents that each workspace knows."""
    with friendly():
        needs_service(loaded())
        rows = [overview(one) for one in home().neighbours()]
        known = _workspaces(home())
        result = {"profiles": rows, "shared": _shared(rows), "workspaces": known}
        show(result, as_json=as_json, human=lambda: _print_peers(result))
        if any(each["problem"] for each in known):
            raise typer.Exit(FAILED)


def _workspaces(place: Home) -> list[dict[str, Any]]:
    """Ask each workspace of the profiles once which agents it knows."""
    from gateway import app
    from gateway.cli.service import NO_SERVICE, service_of
    from gateway.model.errors import ConfigurationError, MemoryServiceError

    found: dict[tuple[str, str], dict[str, Any]] = {}
    for one in place.neighbours():
        try:
            configuration = app.load(one, os.environ, profile=one.profile)
        except ConfigurationError:
            continue
        where, workspace = service_of(configuration), configuration.honcho.workspace
        if where in NO_SERVICE or (where, workspace) in found:
            continue
        row: dict[str, Any] = {"service": where, "workspace": workspace, "problem": ""}
        try:
            row["agents"] = dict(ask(configuration, lambda memory: memory.agents()))
        except MemoryServiceError as error:
            row |= {"agents": {}, "problem": str(error)}
        found[where, workspace] = row
    return list(found.values())


def _shared(rows: list[dict[str, Any]]) -> list[str]:
    """Return a line for each agent's peer that several profiles have in one workspace."""
    held: dict[tuple[str, str, str], list[str]] = {}
    for row in rows:
        if not row["problem"]:
            key = (row["service"], row["workspace"], row["ai_peer"])
            held.setdefault(key, []).append(row["profile"])
    return [
        f"{' and '.join(names)} have one agent peer, {peer}: what one learns the other knows; "
        f"hermes-gateway honcho peer --ai NAME --profile {names[-1]}"
        for (_, _, peer), names in held.items()
        if len(names) > 1
    ]


def _print_peers(result: dict[str, Any]) -> None:
    rows = [
        (row["profile"], "settings are wrong", "", "", "")
        if row["problem"]
        else (
            row["profile"],
            row["user_peer"] or "none",
            row["ai_peer"],
            row["workspace"],
            row["service"],
        )
        for row in result["profiles"]
    ]
    typer.echo("\n".join(columns(("profile", "user", "ai", "workspace", "service"), rows)))
    for line in result["shared"]:
        note(f"warning: {line}")
    for one in result["workspaces"]:
        typer.echo(f"\nworkspace {one['workspace']} at {one['service']}")
        typer.echo(_agents(one["agents"]) if not one["problem"] else f"  {one['problem']}")


def _agents(agents: Mapping[str, str]) -> str:
    if not agents:
        return "  knows no agents yet"
    width = max(map(len, agents))
    return "\n".join(f"  {name:<{width}}  {peer}" for name, peer in agents.items())
