"""``doctor``: what is wrong here, and what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from gateway.cli.common import CONSOLE_ONLY, FAILED, JsonFlag, chosen_profile, friendly, home, show
from gateway.text.counted import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gateway.ops.doctor import Finding
    from gateway.settings.home import Home


def doctor(as_json: JsonFlag = False) -> None:
    """Look at settings, files, database, platforms and model. Changes nothing."""
    with friendly():
        from gateway.ops.doctor import Level

        findings = list(_examine(home()))
        errors = [one for one in findings if one.level is Level.ERROR]
        result = {
            "ok": not errors,
            "findings": [
                {"level": one.level.value, "topic": one.topic, "text": one.text}
                for one in findings
            ],
        }
        show(result, as_json=as_json, human=lambda: _print(findings))
        if errors:
            raise typer.Exit(FAILED)


def _examine(place: Home) -> Iterator[Finding]:
    from gateway import app
    from gateway.cli.models import model_findings
    from gateway.model.errors import ConfigurationError
    from gateway.ops import doctor as look
    from gateway.ops.profiles import clashes

    yield from look.surroundings(place)
    try:
        loaded = app.load(place, profile=chosen_profile())
    except ConfigurationError as error:
        for line in error.problems:
            yield look.Finding(look.Level.ERROR, "settings", line)
        return
    rules = app.rules_of(loaded)
    yield from look.configuration(loaded, rules, app.start_problems(loaded))
    if not app.connected(loaded):
        yield look.Finding(look.Level.OK, "platform", CONSOLE_ONLY)
    if place.database.exists():
        yield from look.database(place.database, rules)
    else:
        yield look.Finding(look.Level.OK, "database", "none yet: hermes-gateway run makes it")
    yield from look.newcomers(place, rules, stand_in=app.stand_in(loaded), manifests=app.MANIFESTS)
    yield from model_findings(loaded)
    for line in clashes(place, lambda one: app.load(one, {}, profile=one.profile)):
        yield look.Finding(look.Level.WARNING, "profiles", line)


def _print(findings: list[Finding]) -> None:
    marks = {"ok": "✓", "warning": "!", "error": "✗"}
    for one in findings:
        typer.echo(f"{marks[one.level]} {one.topic:<11} {one.text}")
    worse = sum(one.level != "ok" for one in findings)
    typer.echo("")
    typer.echo(f"{counted(worse, 'thing')} to look at." if worse else "All is well.")
