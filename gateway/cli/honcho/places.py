"""``honcho map`` and ``honcho sessions``: which memory session a place has."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gateway.cli.common import MISUSED, JsonFlag, fail, friendly, loaded, show
from gateway.cli.honcho.changes import change, report
from gateway.cli.layout import columns

if TYPE_CHECKING:
    from gateway.settings.read import Loaded
    from gateway.settings.splice import Remove


def map_(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", show_default=False, help="The session's name."),
    ] = None,
    conversation: Annotated[
        str | None,
        typer.Option(metavar="KEY", help="A conversation as honcho sessions lists it."),
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Take the mapping away.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Give this folder's console session (or --conversation) a name; without NAME list all."""
    with friendly():
        before = loaded()
        place = _place(conversation)
        if remove:
            report(
                change({("sessions", place): _removed(name, place, before)}, before),
                as_json=as_json,
            )
        elif name is not None:
            report(change({("sessions", place): _name(name)}, before), as_json=as_json)
        elif conversation is not None:
            fail("--conversation needs the NAME of a session, or --remove", MISUSED)
        else:
            result = _maps(before)
            show(result, as_json=as_json, human=lambda: _print(result))


def _removed(name: str | None, place: str, before: Loaded) -> Remove:
    from gateway.settings.rewrite import REMOVE

    if name is not None:
        fail("--remove goes without NAME", MISUSED)
    if place not in before.honcho.sessions:
        fail(f"{place} is not mapped; see: hermes-gateway honcho map", MISUSED)
    return REMOVE


def _place(conversation: str | None) -> str:
    """Return what is mapped: a conversation's key, or the present folder."""
    if conversation is None:
        return _here()
    from gateway.model.ids import ConversationKey
    from gateway.policy.session import parse_key

    try:
        parse_key(ConversationKey(conversation))
    except ValueError:
        fail(
            f"--conversation: {conversation} is no conversation; "
            "see: hermes-gateway honcho sessions",
            MISUSED,
        )
    return conversation


def _here() -> str:
    try:
        return str(Path.cwd())
    except FileNotFoundError:
        fail("this folder is gone: go to another one, or name a --conversation", MISUSED)


def _name(word: str) -> str:
    from gateway.policy import naming

    name = word.strip()
    if not naming.is_legal(name):
        usable = naming.clean(name)[: naming.LIMIT].strip("-") or "my-project"
        fail(
            f"NAME: {word!r} cannot be a session's name; use letters, digits, - and _, "
            f"at most {naming.LIMIT}, such as {usable}",
            MISUSED,
        )
    return name


def _maps(configuration: Loaded) -> dict[str, Any]:
    from gateway import app

    here = _here()
    mapped = here in configuration.honcho.sessions
    fresh = configuration.honcho.session_strategy == "per-session" and not mapped
    return {
        "here": here,
        #: None: one that is not made before the start
        "session": None if fresh else app.console_place(app.rules_of(configuration)),
        "mapped": mapped,
        "strategy": configuration.honcho.session_strategy,
        "sessions": dict(configuration.honcho.sessions),
    }


def _print(found: dict[str, Any]) -> None:
    if found["sessions"]:
        rows = [(name, place) for place, name in found["sessions"].items()]
        typer.echo("\n".join(columns(("session", "place"), rows)))
    else:
        typer.echo("Nothing is mapped by hand.")
    why = "by hand" if found["mapped"] else f"by the strategy {found['strategy']}"
    name = found["session"] or "a new one at every start"
    typer.echo(f"\nThe console in {found['here']} has the session {name} ({why}).")
