"""``honcho sync``: carry this profile's memory settings to the others."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gateway.cli.changing import YesFlag  # noqa: TC001  (the command line reads it)
from gateway.cli.common import FAILED, JsonFlag, friendly, home, loaded, note, show
from gateway.cli.honcho.changes import audit, plain
from gateway.cli.layout import columns

if TYPE_CHECKING:
    from gateway.ops.profiles import Carrying
    from gateway.policy.carry import Step
    from gateway.settings.home import Home
    from gateway.settings.read import Loaded

DryRunFlag = Annotated[bool, typer.Option("--dry-run", help="Show it and change nothing.")]


def sync(
    dry_run: DryRunFlag = False,
    yes: YesFlag = False,
    as_json: JsonFlag = False,
) -> None:
    """Carry the settings of this profile to all others; shows first what changes where.

    A profile keeps its own agent (aiPeer) and sessions, and what it says itself about people, its
    server and its workspace. What this profile does not set is not touched.
    """
    with friendly():
        from gateway.ops.profiles import plan_sync

        plans = plan_sync(loaded(), home(), settings_of)
        if not as_json:
            typer.echo("\n".join(_lines(plans)))
        todo = [one for one in plans if one.changes]
        if todo and not dry_run:
            if not (yes or as_json) and sys.stdin.isatty():
                typer.confirm("Write this?", abort=True)
            for one in todo:
                carry_out(one)
                _say_what_lacks(one.home)
        written = not dry_run and bool(todo)
        result = {"written": written, "profiles": [_told(one) for one in plans]}
        show(result, as_json=as_json, human=lambda: _end(written, todo))
        if any(one.problem for one in plans):
            raise typer.Exit(FAILED)


def settings_of(place: Home) -> Loaded:
    """Return the settings of one profile."""
    from gateway import app

    return app.load(place, os.environ, profile=place.profile)


def carry_out(one: Carrying) -> None:
    """Write what a plan says into the profile's own block."""
    from gateway import app

    # what was written for one profile may have changed the file of the next
    app.change_memory(one.home, settings_of(one.home), one.changes, own=True)
    keys = [f"honcho.{key}" for (key,) in one.changes]
    audit(one.home, "settings.changed", subject="settings", keys=keys, by="sync")


def _say_what_lacks(place: Home) -> None:
    from gateway.settings.read import needs_service_problem

    if problem := needs_service_problem(settings_of(place)):
        note(f"note: {place.profile}: {problem}")


def _end(written: bool, todo: list[Carrying]) -> None:
    if written:
        names = ", ".join(one.home.profile for one in todo)
        typer.echo(f"\nWritten for {names}.")
        typer.echo("Server, workspace, agent and strategy count when a gateway starts again.")
    elif not todo:
        typer.echo("\nNothing is to be written.")


def _lines(plans: list[Carrying]) -> list[str]:
    if not plans:
        return ["There is one profile. Another one: hermes-gateway profile create NAME"]
    lines: list[str] = []
    for one in plans:
        lines += ["", f"{one.home.profile}: {_state(one)}", *_table(one.steps)]
    return lines[1:]


def _state(one: Carrying) -> str:
    if one.problem or one.loaded is None:
        return f"left alone, its settings are wrong: {one.problem}"
    block = f"hosts.{one.block} in {one.loaded.honcho_file}"
    return block if one.steps else f"has the same settings ({block})"


def _table(steps: tuple[Step, ...]) -> list[str]:
    from gateway.ops.profiles import shown
    from gateway.policy.carry import Fate

    rows = []
    for step in steps:
        before, after = (plain(shown(step, value)) for value in (step.before, step.after))
        if step.fate is Fate.KEPT:
            rows.append((step.key, before, f"kept: {step.why}"))
        else:
            rows.append((step.key, before, f"→ {after}"))
    return [f"  {line}" for line in columns(("key", "now", "then"), rows)] if rows else []


def _told(one: Carrying) -> dict[str, Any]:
    from gateway.ops.profiles import shown

    return {
        "profile": one.home.profile,
        "problem": one.problem,
        "file": str(one.loaded.honcho_file) if one.loaded else None,
        "keys": [
            {
                "key": step.key,
                "before": shown(step, step.before),
                "after": shown(step, step.after),
                "fate": step.fate.value,
                "why": step.why,
            }
            for step in one.steps
        ],
    }
