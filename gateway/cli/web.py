"""``web``: one-time links and tokens for the operator's page."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gateway.cli.common import (
    MISUSED,
    JsonFlag,
    existing_store,
    fail,
    friendly,
    home,
    loaded,
    note,
    show,
)
from gateway.text.counted import counted

if TYPE_CHECKING:
    from gateway.settings.home import Home
    from gateway.settings.read import Loaded
    from gateway.store.engine import Connection, Store
    from gateway.web.doors import Doors, Role

group = typer.Typer(help="The operator's page: who may open it.", no_args_is_help=True)

RoleOption = Annotated[
    str, typer.Option(help="viewer (looks) or operator (acts).", metavar="viewer|operator")
]
_BY = "command line"


@group.command()
def link(role: RoleOption = "operator", as_json: JsonFlag = False) -> None:
    """Print a link that opens the page once, within ten minutes."""
    with friendly():
        from gateway.web.doors import LINK_HOLDS
        from gateway.web.server import link_to

        place, configuration, wanted = home(), _switched_on(), _role(role)
        with existing_store(place) as store:
            address = _address(place, store, configuration)
            key = asyncio.run(_doors(place, store).link(wanted, by=_BY))
        minutes = int(LINK_HOLDS.total_seconds() // 60)
        result = {"link": link_to(address, key), "role": wanted.value, "minutes": minutes}
        show(result, as_json=as_json, human=lambda: typer.echo(result["link"]))


@group.command()
def token(
    role: RoleOption = "viewer",
    days: Annotated[int, typer.Option(help="How long it is good for.", min=1, max=3650)] = 90,
    as_json: JsonFlag = False,
) -> None:
    """Print a token for a program that uses the JSON API."""
    with friendly():
        place, wanted = home(), _role(role)
        _switched_on()
        with existing_store(place) as store:
            made = asyncio.run(
                _doors(place, store).token(wanted, holds=timedelta(days=days), by=_BY)
            )
        result = {"token": made, "role": wanted.value, "days": days}
        show(result, as_json=as_json, human=lambda: typer.echo(made))


@group.command("sign-out")
def sign_out(as_json: JsonFlag = False) -> None:
    """End every session of the page, and void every link and token."""
    with friendly():
        place = home()
        with existing_store(place) as store:
            keys = asyncio.run(_doors(place, store).close_all(by=_BY))
        ended = counted(keys, "session, link or token", "sessions, links and tokens")
        text = f"Ended: {ended}."
        show({"keys": keys}, as_json=as_json, human=lambda: typer.echo(text))


def _role(name: str) -> Role:
    from gateway.web.doors import Role

    if name not in tuple(Role):
        fail(f"--role: {name} is none; choose viewer or operator", MISUSED)
    return Role(name)


def _switched_on() -> Loaded:
    configuration = loaded()
    if not configuration.settings.web.enabled:
        fail("there is no page: web.enabled is false in config.yaml", MISUSED)
    return configuration


def _doors(place: Home, store: Store) -> Doors:
    from gateway.app.page import doors
    from gateway.ops.clock import SystemClock

    return doors(place, store, SystemClock())


def _address(place: Home, store: Store, configuration: Loaded) -> str:
    """Return where the running gateway serves the page; where none does, say so."""
    from gateway.ops import health
    from gateway.store.lock import ProcessLock
    from gateway.web.server import address_of

    def look(conn: Connection) -> dict[str, Any]:
        return health.page(conn)

    web = configuration.settings.web
    told = asyncio.run(store.read(look))
    if ProcessLock(place.lock).holder() is None:
        note("note: no gateway runs here; the link works once hermes-gateway run is started")
    elif told.get("state") == "open":
        return str(told["detail"])
    elif told.get("state") == "no_port":
        fail(f"there is no page: {told['detail']}")
    return address_of(web.host, web.port)
