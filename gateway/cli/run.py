"""``run`` and ``chat``: the gateway itself, and a conversation on this console."""

from __future__ import annotations

import asyncio
import signal
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import typer

from gateway.cli.common import MISUSED, chosen_profile, fail, friendly, home, loaded, note
from gateway.cli.tree import command_names

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gateway.agent.choice import Choice
    from gateway.settings.home import Home
    from gateway.settings.read import Loaded
    from gateway.web.server import PageServer


def run(ctx: typer.Context) -> None:
    """Run the gateway: every platform that is set up, and the console.

    With a terminal you can talk to Hermes right here. With a pipe or a file as standard input
    each line is a message and only the answers go to standard output.
    """
    with friendly():
        _run(home(), platforms=True, terminal=command_names(ctx))


def chat(ctx: typer.Context) -> None:
    """Talk to Hermes on this console, beside a running gateway or without one."""
    with friendly():
        from gateway.model.errors import GatewayRunningError

        place = home()
        if _nothing_to_read():
            note("Nothing to read: standard input is closed or the null device.")
            return
        try:
            _run(place, platforms=False, terminal=command_names(ctx))
        except GatewayRunningError:
            from adapters.console.attach import attach
            from adapters.console.front import Streams

            streams = Streams(sys.stdin, sys.stdout, sys.stderr, place.console_history)
            raise typer.Exit(asyncio.run(attach(place.socket, streams))) from None


def _run(place: Home, *, platforms: bool, terminal: Mapping[str, Sequence[str]]) -> None:
    from gateway import app
    from gateway.cli.models import make_agent, make_completer, make_embedder
    from gateway.model.ids import sortable_id
    from gateway.ops import logs
    from gateway.ops.environment import package_clash
    from gateway.settings.read import needs_service_problem

    if clash := package_clash():
        note(f"warning: {clash}")
    configuration = _introduced(place, loaded())
    if problem := needs_service_problem(configuration):
        fail(problem, MISUSED)
    redactor = logs.configure(
        configuration.settings.log, logs.secrets_of(configuration), quiet=_on_terminal()
    )
    choice = _model(configuration)
    start = app.Start(
        place,
        configuration,
        partial(make_agent, place, configuration, choice),
        make_completer=partial(make_completer, configuration, choice),
        make_embedder=partial(make_embedder, configuration),
        console=_console(place, configuration),
        platforms=platforms,
        fresh=sortable_id("s"),
        describe_model=lambda: choice.label if choice.answers else "",
        terminal=terminal,
        redactor=redactor,
    )
    asyncio.run(_until_stopped(start))


def _console(place: Home, configuration: Loaded) -> dict[str, Any]:
    from gateway import app

    return {
        "history_file": place.console_history,
        "socket_path": place.socket,
        "place": app.console_place(app.rules_of(configuration)),
    }


def _model(configuration: Loaded) -> Choice:
    """Choose the model; where there is none, offer the small local one on a terminal."""
    from gateway.agent.weights import SMALL
    from gateway.cli.model import fetch
    from gateway.cli.models import model_choice

    choice = model_choice(configuration)
    if not choice.answers and _on_terminal():
        size, source = f"{SMALL.size / 1e6:.0f} MB", f"{SMALL.licence}, {SMALL.origin}"
        note("No model is set up: there is no key, no model server and no local model.")
        if typer.confirm(f"Fetch {SMALL.name} ({size}, {source})?", default=True, err=True):
            fetch(SMALL.name)
            choice = model_choice(configuration)
    note(f"model: {choice.describe()[0]}")
    return choice


def _nothing_to_read() -> bool:
    from adapters.console.descriptors import descriptor
    from adapters.console.source import InputKind, input_kind

    return input_kind(descriptor(sys.stdin)) is InputKind.OFF


def _on_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


async def _until_stopped(start: Any) -> None:
    from gateway import app

    gateway = app.assemble(start)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    if gateway.page is not None:
        await _show_page(gateway.page)
    await gateway.run(stop)
    refused = [one for one in gateway.adapters if one.status.state == "bad_credentials"]
    if refused and not stop.is_set():
        names = ", ".join(f"{one.platform}: {one.status.detail}" for one in refused)
        fail(f"nothing is left to receive from ({names})")


async def _show_page(page: PageServer) -> None:
    """Say where the page is; its one-time link is for a terminal alone, never for a log."""
    from gateway.web.doors import LINK_HOLDS, Role

    if not page.take_port():
        note(f"no page: {page.problem}")
    elif _on_terminal():
        minutes = int(LINK_HOLDS.total_seconds() // 60)
        link = await page.link(Role.OPERATOR, by="start")
        note(f"page: {link} (once, within {minutes} minutes)")


def _ask_name(configuration: Loaded, default: str) -> str:
    """Ask until the answer can be a person's name."""
    from gateway.policy import naming
    from gateway.text.clean import check_name, nfc

    agent = next(naming.candidates(configuration.honcho.ai_peer))
    while True:
        name = nfc(typer.prompt("Your name?", default=default or None, err=True).strip())
        problem = check_name(name)
        if name and next(naming.candidates(name)) == agent:
            problem = f"{name} is the agent's own name"
        if name and problem is None:
            return name
        note(f"{problem or 'A name has at least one letter'}; please give another one.")


def _introduced(place: Home, configuration: Loaded) -> Loaded:
    """Ask once, at the first start on a terminal, who sits here; remember it as peerName."""
    from gateway import app

    stand_in = app.stand_in(configuration)
    if configuration.honcho.peer_name is not None or place.database.exists():
        return configuration
    if not _on_terminal():
        if stand_in:
            note(
                f'note: peerName is not set, so the console\'s person is "{stand_in}" for now; '
                f"set peerName in {configuration.honcho_file}"
            )
        return configuration
    name = _ask_name(configuration, stand_in)
    app.change_memory(place, configuration, {("peerName",): name})
    return app.load(place, profile=chosen_profile())
