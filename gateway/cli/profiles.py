"""``profile``: the agents that run side by side, each with a home of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from gateway.cli.common import JsonFlag, friendly, home, loaded, show
from gateway.cli.honcho.status import overview
from gateway.cli.layout import columns, pairs

if TYPE_CHECKING:
    from gateway.settings.home import Home

group = typer.Typer(
    help="Agents side by side, each with its own home, memory, bots and settings.",
    no_args_is_help=True,
)


@group.command("list")
def list_(as_json: JsonFlag = False) -> None:
    """Show every profile: its home, whether a gateway runs on it, who its agent is."""
    with friendly():
        found = [overview(one) for one in home().neighbours()]
        show(found, as_json=as_json, human=lambda: _print_list(found))


def _print_list(found: list[dict[str, Any]]) -> None:
    rows = [
        (
            row["profile"],
            "yes" if row["running"] else "no",
            (row["problem"] and "settings are wrong") or row["provider"],
            row.get("ai_peer", ""),
            row["home"],
        )
        for row in found
    ]
    typer.echo("\n".join(columns(("profile", "runs", "memory", "agent", "home"), rows)))


@group.command()
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Letters, digits, - and _.")],
    clone: Annotated[
        bool,
        typer.Option(
            "--clone", help="With this profile's settings, SOUL.md and model keys; no bot tokens."
        ),
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """Make a profile: a home of its own, and this profile's memory settings carried over."""
    with friendly():
        result = _create(home(), name, clone=clone)
        show(result, as_json=as_json, human=lambda: _print_created(result))


def _create(place: Home, name: str, *, clone: bool) -> dict[str, Any]:
    from gateway.cli.honcho.sync import carry_out, settings_of
    from gateway.ops import profiles
    from gateway.settings.home import Home

    Home.find({"HERMES_HOME": str(place.path)}, name)
    source = loaded()
    port = profiles.free_port(place, settings_of)
    copied = profiles.create(place, name, clone=clone, port=port)
    made = place.of(name)
    plans = profiles.plan_sync(source, place, settings_of)
    (plan,) = [one for one in plans if one.home.profile == made.profile]
    if plan.changes:
        carry_out(plan)
    honcho = settings_of(made).honcho
    return {
        "profile": name,
        "home": str(made.path),
        "copied": copied,
        "carried": [key for (key,) in plan.changes],
        "host": honcho.host,
        "ai_peer": honcho.ai_peer,
        "workspace": honcho.workspace,
        "page": port,
    }


def _print_created(result: dict[str, Any]) -> None:
    rows = [
        ("profile", result["profile"]),
        ("home", result["home"]),
        ("copied", ", ".join(result["copied"])),
        ("carried", ", ".join(result["carried"])),
        ("agent", f"{result['ai_peer']} in workspace {result['workspace']}"),
        ("page", f"port {result['page']}"),
        ("next", f"hermes-gateway setup --profile {result['profile']}"),
        ("", f"hermes-gateway run --profile {result['profile']}"),
    ]
    typer.echo("\n".join(pairs(rows)))
