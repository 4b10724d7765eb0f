"""Entry point of ``hermes-gateway``."""

from __future__ import annotations

from typing import Annotated

import typer

from gateway import __version__
from gateway.cli import (
    aliases,
    approvals,
    audit,
    config,
    db,
    deliveries,
    doctor,
    erase,
    export,
    importing,
    inspect,
    links,
    memory,
    model,
    pairing,
    people,
    profiles,
    rehoming,
    run,
    search,
    sessions,
    setup,
    web,
    whois,
)
from gateway.cli.common import choose_profile, friendly
from gateway.cli.honcho import group as honcho
from gateway.cli.tree import HONCHO, PROFILE_HELP, Root

cli = typer.Typer(
    name="hermes-gateway",
    cls=Root,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    help=(
        "People on Telegram, Discord, Slack and this console talk to one agent, Hermes, "
        "that knows each of them.\n\n"
        "Start with **hermes-gateway run**. Everything is kept in `~/.hermes` "
        "(or `$HERMES_HOME`). Exit codes: 0 fine, 1 the thing failed, "
        "2 wrong use or configuration."
    ),
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"hermes-gateway {__version__}")
        raise typer.Exit


@cli.callback()
def _root(
    profile: Annotated[str | None, typer.Option(metavar="NAME", help=PROFILE_HELP)] = None,
    _show: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    choose_profile(profile)


cli.command()(run.run)
cli.command()(run.chat)
cli.command()(setup.setup)
cli.command()(whois.whois)
cli.command()(search.search)
cli.command()(inspect.trace)
cli.command()(inspect.status)
cli.command()(doctor.doctor)
cli.command()(export.export)
cli.command()(erase.erase)
cli.add_typer(aliases.group, name="aliases")
people.group.command()(rehoming.rehome)
cli.add_typer(people.group, name="people")
cli.add_typer(pairing.group, name="pairing")
cli.add_typer(deliveries.group, name="deliveries")
for command in (approvals.approvals, approvals.approve, approvals.reject):
    memory.group.command()(command)
memory.group.command("setup")(setup.memory_setup)
memory.group.command()(rehoming.replay)
cli.add_typer(memory.group, name="memory")
honcho.group.command("setup")(setup.honcho_setup)
cli.add_typer(honcho.group, name=HONCHO)
cli.add_typer(sessions.group, name="sessions")
cli.add_typer(links.group, name="links")
cli.add_typer(audit.group, name="audit")
cli.add_typer(importing.group, name="import")
cli.add_typer(model.group, name="model")
cli.add_typer(web.group, name="web")
cli.add_typer(profiles.group, name="profile")
cli.add_typer(config.group, name="config")
cli.add_typer(db.group, name="db")


def main() -> None:
    """Run the command line; a user's mistake ends with a message, never with a stack trace."""
    with friendly():
        cli()


if __name__ == "__main__":
    main()
