"""``deliveries``: what has not reached its person, and what to do about it."""

from __future__ import annotations

import asyncio
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
    show,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from gateway.pipeline.deliveries import DeliveryDesk
    from gateway.store.engine import Tx

group = typer.Typer(
    help="Messages on their way: list them, send them again, give them up.",
    invoke_without_command=True,
)

PartId = Annotated[int, typer.Argument(metavar="ID", help="A part's number, as listed.", min=1)]
_BY = "command line"


@group.callback()
def _default(context: typer.Context, as_json: JsonFlag = False) -> None:
    if context.invoked_subcommand is None:
        _list(as_json=as_json)


@group.command("list")
def list_(as_json: JsonFlag = False) -> None:
    """Show the parts that wait, failed, or may have arrived."""
    _list(as_json=as_json)


@group.command()
def retry(
    part: PartId,
    yes: Annotated[
        bool, typer.Option("--yes", help="Also one that may have arrived, and may come twice.")
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """Send a failed part again; the running gateway does it at once."""
    with friendly():
        from gateway.pipeline.deliveries import MayArriveTwiceError

        try:
            _act(lambda tx, desk: desk.retry(tx, part, by=_BY, twice=yes))
        except MayArriveTwiceError as error:
            fail(f"{error}; if that is all right: deliveries retry {part} --yes", MISUSED)
        result = {"id": part, "state": "waiting"}
        show(result, as_json=as_json, human=lambda: typer.echo(f"Part {part} is sent again."))


@group.command("give-up")
def give_up(part: PartId, as_json: JsonFlag = False) -> None:
    """Stop trying to send a part that waits. What was said stays; nobody is told."""
    with friendly():
        _act(lambda tx, desk: desk.give_up(tx, part, by=_BY))
        result = {"id": part, "state": "failed"}
        show(result, as_json=as_json, human=lambda: typer.echo(f"Part {part} is given up."))


def _act(what: Callable[[Tx, DeliveryDesk], None]) -> None:
    from gateway import app

    with existing_store(home()) as store:
        desk = app.delivery_desk(loaded())
        asyncio.run(store.write(lambda tx: what(tx, desk)))


def _list(*, as_json: bool) -> None:
    with friendly():
        from gateway.ops.clock import SystemClock
        from gateway.store import outbox

        now = SystemClock().now()
        with existing_store(home()) as store:
            rows = asyncio.run(store.read(outbox.undelivered))
        result = [_part(row, now) for row in rows]
        show(result, as_json=as_json, human=lambda: _print(result))


def _part(row: Any, now: datetime) -> dict[str, Any]:
    return {
        "id": row.id,
        "state": row.state,
        "turn": row.turn,
        "part": row.ordinal + 1,
        "purpose": row.purpose,
        "place": "/".join(filter(None, (row.platform, row.account, row.place, row.thread))),
        "attempts": row.attempts,
        "error": row.error,
        "created_at": row.created_at.isoformat(),
        "age_seconds": max(0, int((now - row.created_at).total_seconds())),
    }


def _print(parts: list[dict[str, Any]]) -> None:
    if not parts:
        typer.echo("Everything that was said has been delivered.")
    for part in parts:
        what = f"{part['turn']} part {part['part']}" if part["turn"] else part["purpose"]
        tried = ", ".join(filter(None, (f"tried {part['attempts']}×", part["error"])))
        head = f"{part['id']:>6}  {part['state']:<8} {_age(part['age_seconds']):>5}"
        typer.echo(f"{head}  {part['place']}  {what} ({tried})")


def _age(seconds: int) -> str:
    for unit, size in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"
