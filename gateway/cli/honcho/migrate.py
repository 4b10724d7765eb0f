"""``honcho migrate``: move from OpenClaw with openclaw-honcho, step by step."""

from __future__ import annotations

import os
import sys
from pathlib import Path  # noqa: TC003  (the command line reads it)
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gateway.cli.changing import YesFlag  # noqa: TC001  (the command line reads it)
from gateway.cli.common import FAILED, MISUSED, JsonFlag, fail, friendly, home, loaded, note, show
from gateway.cli.honcho.move import carry_out
from gateway.cli.honcho.sync import DryRunFlag  # noqa: TC001  (the command line reads it)
from gateway.cli.layout import columns
from gateway.cli.service import ask

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gateway.model.ids import PeerId
    from gateway.ops.moving import Ours, Step
    from gateway.ops.openclaw import OpenClaw
    from gateway.settings.home import Home
    from gateway.settings.read import Loaded

_HEADS = {
    "server": "The server, so that what was remembered is found again",
    "people": "Who is who",
    "files": "Files",
}


def migrate(
    folder: Annotated[
        Path | None,
        typer.Option("--from", metavar="FOLDER", help="Where OpenClaw is; usually ~/.openclaw."),
    ] = None,
    dry_run: DryRunFlag = False,
    yes: YesFlag = False,
    as_json: JsonFlag = False,
) -> None:
    """Move from OpenClaw with openclaw-honcho: shows what goes where, then asks.

    OpenClaw's own files are read and never changed. What is here already stays as it is; the move
    may be made again, and does only what is not done.
    """
    with friendly():
        from gateway.ops.moving import Act

        found = _found(folder)
        before = loaded()
        steps = _plan(found, before)
        if not as_json:
            typer.echo("\n".join(_lines(found, steps)))
        todo = [step for step in steps if step.act is not Act.LEAVE]
        if todo and not dry_run:
            _ask(yes=yes, as_json=as_json)
            left = carry_out(todo, before)
        else:
            left = []
        result = _told(found, steps, done=bool(todo) and not dry_run, left=left)
        show(result, as_json=as_json, human=lambda: _end(found, result))
        if left:
            raise typer.Exit(FAILED)


def _found(folder: Path | None) -> OpenClaw:
    from gateway.ops import openclaw

    found = openclaw.find(home().user, os.environ, folder)
    if found is None:
        places = folder or ", ".join(f"~/{name}" for name in openclaw.FOLDERS)
        fail(f"there is no OpenClaw in {places}; name its folder with --from FOLDER")
    return found


def _ask(*, yes: bool, as_json: bool) -> None:
    if yes:
        return
    if as_json or not sys.stdin.isatty():
        fail("nothing was done: look with --dry-run, then give the command with --yes", MISUSED)
    typer.confirm("Do this?", abort=True)


# --- the plan ------------------------------------------------------------------------------------


def _plan(found: OpenClaw, before: Loaded) -> list[Step]:
    from gateway import app
    from gateway.ops import moving
    from gateway.ops.profiles import has_memory
    from gateway.settings.said import read_said

    place = home()
    memory = before.settings.memory
    ours: Ours = moving.Ours(
        home=place,
        said=read_said(before.honcho_file, before.hosts),
        has_key=before.honcho.api_key is not None,
        used=has_memory(place),
        platforms=[str(manifest.name) for manifest in app.MANIFESTS],
        agents=_agents(found, before),
        given=_given(place),
        limits={"MEMORY.md": memory.memory_char_limit, "USER.md": memory.user_char_limit},
    )
    return moving.plan(found, ours)


def _given(place: Home) -> frozenset[str]:
    """Return the digests of what the service was given from here."""
    from gateway.memory.seed import SEEDED
    from gateway.model.errors import StoreError
    from gateway.store import facts, readonly

    if not place.database.exists():
        return frozenset()
    try:
        with readonly.look(place.database) as conn:
            return frozenset(name.rsplit(":")[-1] for name in facts.starting_with(conn, SEEDED))
    except StoreError:
        return frozenset()


def _agents(found: OpenClaw, before: Loaded) -> dict[str, PeerId]:
    """Ask the old workspace which peers its agents have; nothing where it does not answer."""
    from gateway.model.errors import GatewayError
    from gateway.ops.openclaw import WORKSPACE

    theirs = found.settings
    if not (theirs.get("baseUrl") or theirs.get("apiKey")):
        return {}
    asked = before.honcho.model_copy(
        update={
            "base_url": theirs.get("baseUrl"),
            "api_key": _secret(theirs.get("apiKey")),
            "workspace": theirs.get("workspaceId") or WORKSPACE,
        }
    )
    try:
        return dict(ask(before, lambda memory: memory.agents(), honcho=asked))
    except GatewayError as error:
        note(f"note: the old workspace was not asked for its agents: {error}")
        return {}


def _secret(value: Any) -> Any:
    from pydantic import SecretStr

    return SecretStr(str(value)) if value else None


def _lines(found: OpenClaw, steps: Sequence[Step]) -> list[str]:
    from gateway.ops import openclaw

    lines = [
        f"Found OpenClaw in {found.folder}, its agent {found.agent} in {found.workspace}.",
        *([f"{openclaw.PLUGIN}: {openclaw.shown(found.settings)}"] if found.settings else []),
        *(f"left out: {problem}" for problem in found.problems),
    ]
    for part, head in _HEADS.items():
        own = [step for step in steps if step.part == part]
        if own:
            lines += ["", head, *_table(own)]
    return lines


def _table(steps: Sequence[Step]) -> list[str]:
    rows = [
        (step.what, step.act.value, f"{step.to} – {step.why}".strip(" –") if step.why else step.to)
        for step in steps
    ]
    return [f"  {line}" for line in columns(("what", "step", "to"), rows)]


# --- what became of it -----------------------------------------------------------------------


def _told(
    found: OpenClaw, steps: Sequence[Step], *, done: bool, left: Sequence[str]
) -> dict[str, Any]:
    return {
        "folder": str(found.folder),
        "workspace": str(found.workspace),
        "agent": found.agent,
        "problems": list(found.problems),
        "done": done,
        "steps": [
            {
                "part": step.part,
                "what": step.what,
                "act": step.act.value,
                "to": step.to,
                "why": step.why,
            }
            for step in steps
        ],
        "left": list(left),
    }


def _end(found: OpenClaw, result: dict[str, Any]) -> None:
    for line in result["left"]:
        note(f"not done: {line}")
    if not result["done"]:
        waits = any(step["act"] != "leave" for step in result["steps"])
        typer.echo("\nNothing was done." if waits else "\nAll of it is here already.")
        return
    typer.echo("\nDone; OpenClaw's files are as they were. Next:")
    if found.bots:
        bots = ", ".join(found.bots)
        typer.echo(f"  - stop OpenClaw before its bot ({bots}) is received here, then put the")
        typer.echo("    token into .env: one bot cannot be received twice")
    typer.echo("  - hermes-gateway doctor, then hermes-gateway run")
