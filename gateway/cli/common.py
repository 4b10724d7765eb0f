"""What every command shares: the home it works on, how it speaks, and how it fails.

Exit codes: 0 fine, 1 the thing failed, 2 wrong use or configuration. Results go to standard
output, everything else to standard error; ``--json`` makes the result one JSON document.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from gateway.model.errors import ConfigurationError, GatewayError, GatewayRunningError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gateway.settings.home import Home
    from gateway.settings.read import Loaded
    from gateway.store.engine import Store

JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]

#: what ``status`` and ``doctor`` say of a home without platforms
CONSOLE_ONLY = "only the console; hermes-gateway setup connects Telegram, Discord or Slack"

#: exit codes
FAILED, MISUSED = 1, 2

_chosen: dict[str, str | None] = {"profile": None}


def choose_profile(profile: str | None) -> None:
    """Remember which profile the commands of this process work on."""
    _chosen["profile"] = profile


def chosen_profile() -> str | None:
    """Return the profile that was asked for, None where none was."""
    return _chosen["profile"]


def home() -> Home:
    """Return the chosen profile's home. Raises ``ConfigurationError`` where there is none."""
    from gateway.settings.home import Home, check_profile

    found = Home.find(os.environ, _chosen["profile"])
    if _chosen["profile"] is not None:
        check_profile(found)
    return found


def provider(profile: str | None) -> str | None:
    """Return a profile's memory provider, None where it or its settings cannot be read."""
    from gateway import app
    from gateway.settings.home import Home, check_profile

    try:
        place = Home.find(os.environ, profile)
        if profile is not None:
            check_profile(place)
        found = app.load(place, profile=profile)
    except ConfigurationError:
        return None
    return found.settings.memory.provider


def loaded() -> Loaded:
    """Return the home's configuration; its warnings are said on standard error."""
    from gateway import app

    found = app.load(home(), profile=chosen_profile())
    for line in found.warnings:
        note(f"warning: {line}")
    return found


def note(text: str) -> None:
    """Say something that is not the result."""
    typer.echo(text, err=True)


def fail(text: str, code: int = FAILED) -> NoReturn:
    """End the command with a message that says what to do."""
    note(text)
    raise typer.Exit(code)


def show(result: Any, *, as_json: bool, human: Callable[[], None]) -> None:
    """Print a result: as JSON, or as ``human`` prints it."""
    if as_json:
        typer.echo(json.dumps(result, ensure_ascii=False, indent=2))
    else:
        human()


@contextmanager
def friendly() -> Iterator[None]:
    """Turn the errors of a user's mistake into one message and an exit code."""
    try:
        yield
    except ConfigurationError as error:
        from gateway.settings.replace import ConcurrentChangeError, UnwritableError

        unwritten = isinstance(error, ConcurrentChangeError | UnwritableError)
        fail("\n".join(error.problems), FAILED if unwritten else MISUSED)
    except GatewayRunningError as error:
        fail(str(error), FAILED)
    except GatewayError as error:
        fail(str(error), FAILED)
    except BrokenPipeError:
        # Whoever read our output has gone; Python would complain again while it shuts down.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(FAILED) from None


@contextmanager
def existing_store(place: Home) -> Iterator[Store]:
    """Open the home's database beside whatever runs there; never creates or migrates one."""
    import asyncio

    from gateway.ops import logs
    from gateway.settings.schema import LogSettings
    from gateway.store import migrate
    from gateway.store.lock import ProcessLock
    from gateway.store.sqlite import SqliteStore

    logs.configure(LogSettings(level="warning"), ())
    if not place.database.exists():
        fail(f"nothing has happened in {place.path} yet: start with hermes-gateway run")
    store = SqliteStore(place.database)
    try:
        at = migrate.current(store.engine)
        if at != migrate.HEAD:
            starting = ProcessLock(place.lock).holder() is not None
            wait = "if the gateway was started just now, try again in a moment; else " * starting
            fail(
                f"{place.database} is at revision {at}, this version needs {migrate.HEAD}: "
                f"{wait}stop the gateway and run: hermes-gateway db upgrade"
            )
        yield store
    finally:
        asyncio.run(store.close())
