"""``model``: which model answers, and the local one that needs no key."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gateway.cli.common import JsonFlag, friendly, loaded, note, show

if TYPE_CHECKING:
    from gateway.agent.weights import Installed

group = typer.Typer(help="The model that answers.", no_args_is_help=True)

#: seconds between two lines of progress where there is no terminal
QUIET_STEP = 5.0


@group.command("list")
def list_(as_json: JsonFlag = False) -> None:
    """Show which model would answer now and why, and which local ones there are."""
    with friendly():
        from gateway.agent.weights import KNOWN
        from gateway.cli.models import model_choice, weights

        store = weights()
        current = store.selected()
        choice = model_choice(loaded())
        result = {
            "answers": choice.answers,
            "choice": choice.describe(),
            "installed": [{**_shown(one), "in_use": one == current} for one in store.installed()],
            "known": [
                {"name": one.name, "bytes": one.size, "licence": one.licence, "origin": one.origin}
                for one in KNOWN.values()
            ],
        }
        show(result, as_json=as_json, human=lambda: _print(result))


@group.command()
def install(
    what: Annotated[
        str | None,
        typer.Argument(metavar="[NAME|PATH|URL]", help="The small known model when left out."),
    ] = None,
    if_needed: Annotated[
        bool, typer.Option("--if-needed", help="Do nothing where a model can answer already.")
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """Fetch a local model and use it. A broken download goes on where it stopped."""
    with friendly():
        from gateway.agent.weights import SMALL
        from gateway.cli.models import model_choice

        if if_needed:
            choice = model_choice(loaded())
            if choice.answers:
                note(f"model: {choice.describe()[0]}")
                return
            note("No model is set up.")
        installed = fetch(what or SMALL.name)
        if if_needed:
            return
        result = _shown(installed)
        show(result, as_json=as_json, human=lambda: typer.echo(f"Using {installed.name}."))


def fetch(what: str) -> Installed:
    """Install a local model, naming it before anything is fetched, with progress."""
    from gateway.agent.weights import KNOWN, Watcher
    from gateway.cli.models import weights

    if known := KNOWN.get(what):
        note(
            f"Fetching {known.name}: {known.size / 1e6:.0f} MB, {known.licence}, "
            f"from {known.origin}, SHA-256 {known.sha256[:12]}…"
        )
    installed = weights().install(what, Watcher(_Progress(), note))
    note(f"model: {installed.name} is ready")
    return installed


@group.command()
def use(
    name: Annotated[str, typer.Argument(help="A name or hash that `model list` shows.")],
    as_json: JsonFlag = False,
) -> None:
    """Choose among the installed local models."""
    with friendly():
        from gateway.cli.models import weights

        chosen = weights().use(name)
        show(_shown(chosen), as_json=as_json, human=lambda: typer.echo(f"Using {chosen.name}."))


class _Progress:
    """Tells how a download goes: one moving line on a terminal, a line now and then elsewhere."""

    def __init__(self) -> None:
        self._told = 0.0

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        ended = total and done >= total
        moving = sys.stderr.isatty()
        if now - self._told < (0.1 if moving else QUIET_STEP) and not ended:
            return
        self._told = now
        share = f"{done * 100 // total:3d} %" if total else ""
        text = f"{share} {done / 1e6:.0f} MB"
        typer.echo(f"\r{text}" if moving else text, err=True, nl=bool(ended) or not moving)


def _shown(weights: Installed) -> dict[str, Any]:
    return {
        "name": weights.name,
        "sha256": weights.sha256,
        "bytes": weights.size,
        "licence": weights.licence,
        "source": weights.source,
        "path": str(weights.path),
    }


def _print(result: dict[str, Any]) -> None:
    chosen, *others = result["choice"]
    typer.echo(f"answers   {chosen}")
    for line in others:
        typer.echo(f"          {line}")
    for one in result["installed"]:
        mark = "in use" if one["in_use"] else "installed"
        typer.echo(f"{mark:<9} {one['name']}  {one['bytes'] / 1e6:.0f} MB  {one['path']}")
    for one in result["known"]:
        typer.echo(f"known     {one['name']}  {one['bytes'] / 1e6:.0f} MB  {one['licence']}")
