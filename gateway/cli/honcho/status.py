"""``honcho status``: the memory settings that hold, where they stand, and whether it answers."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gateway.cli.common import JsonFlag, friendly, home, loaded, show
from gateway.cli.honcho.changes import plain
from gateway.cli.layout import columns, pairs
from gateway.cli.service import NO_SERVICE, ask, service_of

if TYPE_CHECKING:
    from gateway.settings.home import Home
    from gateway.settings.read import Loaded

#: keys that are shown beside the connection and the peers, as the file spells them
SHOWN = (
    *("recallMode", "contextTokens", "contextCadence", "dialecticCadence", "dialecticDepth"),
    *("dialecticReasoningLevel", "reasoningLevelCap", "dialecticDynamic", "dialecticMaxChars"),
    *("sessionStrategy", "writeFrequency", "saveMessages", "observationMode"),
)


def status(
    every: Annotated[
        bool, typer.Option("--all", help="All profiles, one line each; nothing is connected.")
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """Show the settings of this profile and whether the service answers."""
    with friendly():
        if every:
            rows = [overview(one) for one in home().neighbours()]
            show(rows, as_json=as_json, human=lambda: _print_all(rows))
            return
        found = _status(home(), loaded())
        show(found, as_json=as_json, human=lambda: _print(found))


def _status(place: Home, configuration: Loaded) -> dict[str, Any]:
    from gateway.store.lock import ProcessLock

    honcho = configuration.honcho
    values = honcho.model_dump(mode="json", by_alias=True)
    return {
        "profile": configuration.settings.profile,
        "host": honcho.host,
        "file": str(configuration.honcho_file),
        "file_exists": configuration.honcho_file.exists(),
        "service": service_of(configuration),
        "key": _key(configuration),
        "connection": _connection(configuration),
        "running": ProcessLock(place.lock).holder() is not None,
        "workspace": honcho.workspace,
        "user_peer": honcho.peer_name,
        "ai_peer": honcho.ai_peer,
        "pinned": honcho.pin_user_peer,
        "aliases": len(honcho.user_peer_aliases),
        "prefix": honcho.runtime_peer_prefix,
        "memory_modes": {"user": honcho.user_mode, "agent": honcho.agent_mode},
        "settings": {key: values[key] for key in SHOWN},
        "said_in": {
            key: _where(configuration, key) for key in SHOWN if key in configuration.key_sources
        },
    }


def _key(configuration: Loaded) -> str:
    """Return where the key stands, "" where there is none."""
    return _where(configuration, "apiKey") if configuration.honcho.api_key else ""


def _where(configuration: Loaded, key: str) -> str:
    source = configuration.key_sources.get(key)
    if source is None:
        return ""
    if source.file is None:
        return f"environment ({source.variable})"
    return f"{source.file.name}:{source.line}" if source.line else source.file.name


def _connection(configuration: Loaded) -> dict[str, Any]:
    """Ask the service once whether it is there and how much it has still to think about."""
    from gateway.model.errors import MemoryServiceError

    if service_of(configuration) in NO_SERVICE:
        return {"state": "none", "detail": ""}
    try:
        waiting = ask(configuration, lambda memory: memory.pending())
    except MemoryServiceError as error:
        return {"state": "fails", "detail": str(error)}
    return {"state": "answers", "detail": "", "thinks_about": waiting}


def _print(found: dict[str, Any]) -> None:
    settings = [
        (key, plain(value) + _said(found, key)) for key, value in found["settings"].items()
    ]
    modes = found["memory_modes"]
    missing = "" if found["file_exists"] else " (does not exist yet)"
    rows = [
        ("profile", f"{found['profile']} (host {found['host']})"),
        ("file", found["file"] + missing),
        ("service", _service(found)),
        ("workspace", found["workspace"]),
        ("user peer", _user(found)),
        ("ai peer", found["ai_peer"]),
        ("memoryMode", f"people {modes['user']}, agent {modes['agent']}"),
        *settings,
    ]
    typer.echo("\n".join(pairs(rows)))


def _said(found: dict[str, Any], key: str) -> str:
    return "" if key in found["said_in"] else " (default)"


def _service(found: dict[str, Any]) -> str:
    match found["service"]:
        case "disabled":
            return "disabled: nothing is sent or recalled (hermes-gateway honcho enable)"
        case "not set up":
            return "not set up: neither a key nor an address (hermes-gateway honcho setup)"
        case url:
            connection = found["connection"]
            key = f"key from {found['key']}" if found["key"] else "without a key"
            state = connection["detail"] or f"answers, {connection['thinks_about']} to think about"
            return f"{url}, {key}\n{state}"


def _user(found: dict[str, Any]) -> str:
    name = found["user_peer"] or "none"
    notes = ["everybody is this peer"] if found["pinned"] else []
    if found["aliases"]:
        notes.append(f"{found['aliases']} alias(es)")
    if found["prefix"]:
        notes.append(f"others with {found['prefix']}")
    return f"{name} ({'; '.join(notes)})" if notes else name


def overview(place: Home) -> dict[str, Any]:
    """Return one profile's line; a profile whose settings are wrong says so."""
    from gateway import app
    from gateway.model.errors import ConfigurationError
    from gateway.store.lock import ProcessLock

    told: dict[str, Any] = {
        "profile": place.profile,
        "home": str(place.path),
        "running": ProcessLock(place.lock).holder() is not None,
    }
    try:
        configuration = app.load(place, os.environ, profile=place.profile)
    except ConfigurationError as error:
        return {**told, "problem": error.problems[0]}
    honcho = configuration.honcho
    return {
        **told,
        "problem": "",
        "host": honcho.host,
        "provider": configuration.settings.memory.provider,
        "service": service_of(configuration),
        "workspace": honcho.workspace,
        "user_peer": honcho.peer_name,
        "ai_peer": honcho.ai_peer,
        "recall": honcho.recall_mode,
    }


def _print_all(rows: list[dict[str, Any]]) -> None:
    head = ("profile", "runs", "service", "workspace", "user", "ai", "recall")
    typer.echo("\n".join(columns(head, [_line(row) for row in rows])))
    for row in rows:
        if row["problem"]:
            typer.echo(f"{row['profile']}: {row['problem']}")


def _line(row: dict[str, Any]) -> tuple[str, ...]:
    runs = "yes" if row["running"] else "no"
    if row["problem"]:
        return (row["profile"], runs, "settings are wrong, see below", "", "", "", "")
    return (
        row["profile"],
        runs,
        row["service"],
        row["workspace"],
        row["user_peer"] or "none",
        row["ai_peer"],
        row["recall"],
    )
