"""``honcho migrate``: move from OpenClaw with openclaw-honcho, step by step."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path  # noqa: TC003  (the command line reads it)
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gateway.cli.changing import YesFlag  # noqa: TC001  (the command line reads it)
from gateway.cli.common import FAILED, MISUSED, JsonFlag, fail, friendly, home, loaded, note, show
from gateway.cli.honcho.changes import audit, change, write_beside
from gateway.cli.honcho.sync import DryRunFlag  # noqa: TC001  (the command line reads it)
from gateway.cli.layout import columns
from gateway.cli.service import NO_SERVICE, ask, service_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from gateway.memory.seed import Handed, SeedRules
    from gateway.model.ids import PeerId
    from gateway.ops.moving import Ours, Step
    from gateway.ops.openclaw import OpenClaw
    from gateway.ports import Memory
    from gateway.settings.home import Home
    from gateway.settings.read import Loaded
    from gateway.store.engine import Tx

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
            left = _carry_out(todo, before)
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


# --- carrying it out -------------------------------------------------------------------------


def _carry_out(todo: Sequence[Step], before: Loaded) -> list[str]:
    """Do the steps; return a line for each that could not be done."""
    from gateway.ops.moving import Act
    from gateway.settings import files
    from gateway.settings.rewrite_env import edit_env

    place = home()
    secrets = {step.key[0]: step.value for step in todo if step.key[:1] == ("HONCHO_API_KEY",)}
    settings = {
        step.key: step.value for step in todo if step.act is Act.SET and step.key[0] not in secrets
    }
    if secrets:
        edit_env(place.env, before.digests.get(place.env, files.MISSING), secrets)
    if settings:
        change(settings)
    for step in todo:
        _copy(step)
    audit(place, "settings.migrated", subject="settings", steps=len(todo))
    return _upload([step for step in todo if step.act is Act.UPLOAD])


def _copy(step: Step) -> None:
    from gateway.settings import files
    from gateway.settings.replace import rewrite

    if step.target is not None and step.source is not None:
        text = step.source.text
        rewrite(step.target, files.MISSING, lambda _: text)


def _upload(steps: Sequence[Step]) -> list[str]:
    """Give the service what has no place in our files, each content once."""
    from gateway import app
    from gateway.memory.seed import note as note_seed
    from gateway.model.errors import MemoryServiceError
    from gateway.ops.clock import SystemClock

    configuration = loaded()
    rules = app.rules_of(configuration).seed
    now = SystemClock().now()
    left: list[str] = []
    given: list[Handed] = []
    for step in steps:
        handed = _handed(step, rules)
        if isinstance(handed, str):
            left.append(f"{step.what}: {handed}")
            continue
        try:
            ask(configuration, _giving(handed, rules))
            given.append(handed)
        except MemoryServiceError as error:
            left.append(f"{step.what}: {error}")

    def record(tx: Tx) -> None:
        for handed in given:
            note_seed(tx, handed.source, handed.record, now=now)

    if given:
        _make_database(configuration)
        write_beside(home(), record)
    return left


def _make_database(configuration: Loaded) -> None:
    """Have a database, so that the next time nothing is given twice."""
    from gateway import app

    if not home().database.exists():
        asyncio.run(app.open_store(home(), configuration).close())


def _handed(step: Step, rules: SeedRules) -> Handed | str:
    """Return what is uploaded, or why it is not."""
    from gateway.memory.seed import hand_down

    capture = rules.capture
    of_agent = step.about == "agent"
    if service_of(loaded()) in NO_SERVICE:
        return f"the memory service is {service_of(loaded())}"
    if reason := capture.skip_agent if of_agent else capture.skip_user:
        return f"{reason} says that it stays here"
    if step.source is None or (not of_agent and rules.owner is None):
        return "nobody is the owner: hermes-gateway honcho peer --user NAME"
    name = f"openclaw-{step.source.path.name}"
    return hand_down(name, step.source.text, rules, owner=None if of_agent else rules.owner)


def _giving(handed: Handed, rules: SeedRules) -> Callable[[Memory], Awaitable[int]]:
    from gateway.memory.seed import upload
    from gateway.ops.clock import SystemClock

    async def give(memory: Memory) -> int:
        return await upload(
            memory,
            handed.source,
            handed.text,
            handed.record,
            limit=rules.capture.part_limit,
            now=SystemClock().now(),
        )

    return give


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
