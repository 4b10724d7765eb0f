"""The ``honcho`` group: there while Honcho is the memory provider, see ``gateway.cli.tree``."""

from __future__ import annotations

import typer

from gateway.cli import memory, setup
from gateway.cli.honcho import agent, keys, migrate, places, status, sync, who

group = typer.Typer(
    help="The Honcho memory service of this profile: settings, peers, sessions.",
    no_args_is_help=True,
)

group.command()(status.status)
group.command("setup")(setup.honcho_setup)
group.command()(keys.strategy)
group.command()(who.peer)
group.command()(keys.mode)
group.command()(keys.tokens)
group.command()(agent.identity)
group.command()(sync.sync)
group.command()(agent.peers)
group.command()(memory.sessions)
group.command("map")(places.map_)
group.command()(keys.enable)
group.command()(keys.disable)
group.command()(migrate.migrate)
