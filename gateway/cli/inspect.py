"""``trace`` and ``status``: what became of a message, and how the gateway is."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gateway.cli.common import CONSOLE_ONLY, JsonFlag, existing_store, friendly, home, loaded, show
from gateway.text.counted import counted

if TYPE_CHECKING:
    from gateway.settings.home import Home


def trace(
    turn: Annotated[
        str,
        typer.Argument(metavar="[TURN]", help="A turn's id as /trace shows it; none: the newest."),
    ] = "",
    as_json: JsonFlag = False,
) -> None:
    """Show a message's way: who was recognised, every step with its time, every delivery."""
    with friendly():
        from gateway.model.ids import TurnId
        from gateway.pipeline import explain

        with existing_store(home()) as store:
            found = asyncio.run(
                store.read(lambda c: explain.trace(c, TurnId(turn) if turn else explain.newest(c)))
            )
        show(found, as_json=as_json, human=lambda: _print_trace(found))


def _print_trace(found: dict[str, Any]) -> None:
    identity = found["identity"]
    typer.echo(f"turn         {found['turn']}")
    typer.echo(f"state        {found['state']} after {counted(found['attempts'], 'run')}")
    typer.echo(f"conversation {found['conversation']}")
    typer.echo(f"session      {found['session']}")
    typer.echo(f"from         {found['account']} as {identity['peer']} ({identity['rung']})")
    typer.echo(f"named by     {identity['source']}")
    if usage := found["usage"]:
        tokens = f"{usage['input_tokens']} + {usage['output_tokens']} tokens"
        typer.echo(
            f"model        {usage['model']}, {counted(usage['requests'], 'request')}, {tokens}"
        )
    for layer in found["recall"]:
        age = "for this turn" if layer["age"] == 0 else f"{counted(layer['age'], 'turn')} old"
        what = f"{layer['chars']} characters, {age}" if layer["chars"] else "nothing"
        waited = f", waited {layer['waited']:.1f} s" if layer["waited"] else ""
        typer.echo(f"recalled     {layer['name']}: {what}{waited}")
    typer.echo("")
    for point in found["checkpoints"]:
        words = [point["step"], point["status"], point["detail"], _again(point["attempt"])]
        typer.echo(f"  {point['at'][11:23]}  {'  '.join(filter(None, words))}")
    typer.echo("")
    for number, part in enumerate(found["parts"], 1):
        words = [part["state"], part["error"], part["degraded"], _again(part["attempts"])]
        typer.echo(f"  part {number}: {' '.join(filter(None, words))}")
    for row in found["memory"]:
        state = " ".join(filter(None, (row["state"], row["reason"])))
        typer.echo(f"  memory {row['seq']} ({row['role']} as {row['peer']}): {state}")


def _again(attempt: int) -> str:
    return f"(attempt {attempt})" if attempt > 1 else ""


def status(as_json: JsonFlag = False) -> None:
    """Show whether the gateway runs, its connections, and what is waiting."""
    with friendly():
        found = _status(home())
        show(found, as_json=as_json, human=lambda: _print_status(found))


def _status(place: Home) -> dict[str, Any]:
    from gateway import app
    from gateway.ops import health
    from gateway.store.lock import ProcessLock

    configuration = loaded()
    process = ProcessLock(place.lock).holder()
    found: dict[str, Any] = {
        "home": str(place.path),
        "running": process is not None,
        "process": process,
        "memory_provider": configuration.settings.memory.provider,
        "memory_service": {},
        "audit": {"rows": 0, "problem": ""},
        "page": {},
        "settings_kept": [],
        "platforms": app.connected(configuration),
        "adapters": [],
        "counts": {},
    }
    if place.database.exists():
        with existing_store(place) as store:
            report = asyncio.run(store.read(health.report))
        found |= report
    return found


def _print_status(found: dict[str, Any]) -> None:
    state = f"running (process {found['process']})" if found["running"] else "not running"
    typer.echo(f"gateway   {state}")
    typer.echo(f"home      {found['home']}")
    code = found["memory_service"].get("code")
    trouble = f": in trouble ({code}), what was said waits" if code and found["running"] else ""
    typer.echo(f"memory    {found['memory_provider']}{trouble}")
    if problem := found["audit"]["problem"]:
        typer.echo(f"audit     ALARM: {problem}; see: hermes-gateway audit verify")
    page = found["page"]
    if found["running"] and page:
        shown = {"open": page["detail"], "no_port": f"none: {page['detail']}"}
        typer.echo(f"page      {shown.get(page['state'], page['state'])}")
    for problem in found["settings_kept"] if found["running"] else []:
        typer.echo(
            f"settings  an edit is not followed, the last good ones are in force: {problem}"
        )
    if not found["platforms"]:
        typer.echo(f"platform  {CONSOLE_ONLY}")
    for adapter in found["adapters"]:
        detail = f" – {adapter['detail']}" if adapter["detail"] else ""
        state = adapter["state"] if found["running"] else f"{adapter['state']} (last seen)"
        typer.echo(f"platform  {adapter['platform']} {adapter['account']}: {state}{detail}")
    for name, counts in found["counts"].items():
        if counts:
            told = ", ".join(f"{number} {kind}" for kind, number in counts.items())
            typer.echo(f"{name:<9} {told}")
