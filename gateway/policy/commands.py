"""Slash commands: how one is recognised, and which ones there are."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gateway.model.events import Command

#: the name must touch the slash and end at white space, so ``/etc/hosts`` is text
_COMMAND = re.compile(
    r"/(?P<name>[A-Za-z0-9_]+)(?:@(?P<bot>[A-Za-z0-9_]+))?(?:\s+(?P<args>.*))?", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class CommandSpec:
    """One chat command."""

    name: str
    #: for admins only
    admin: bool = False
    #: runs in the order of its conversation; the others run at once, also beside a turn
    ordered: bool = False


KNOWN: dict[str, CommandSpec] = {
    spec.name: spec
    for spec in (
        CommandSpec("start"),
        CommandSpec("help"),
        CommandSpec("new", ordered=True),
        CommandSpec("stop"),
        CommandSpec("status"),
        CommandSpec("whoami"),
        CommandSpec("title", ordered=True),
        CommandSpec("memory"),
        CommandSpec("search"),
        CommandSpec("link"),
        CommandSpec("unlink"),
        CommandSpec("trace"),
        CommandSpec("export"),
        CommandSpec("forget"),
        CommandSpec("approve", admin=True),
        CommandSpec("deny", admin=True),
        CommandSpec("who", admin=True),
    )
}


def parse_command(text: str, *, bot_username: str) -> tuple[Command | None, bool]:
    """Return (command, foreign); (None, False) for text, (None, True) for another bot's command.

    A command starts the text (outer white space aside); ``/new@Brook_Bot`` compares without
    case. Names are not looked up: ``/newer`` is a command, though not a known one. ``/ new``,
    ``//new`` and ``text /new`` are text. ``bot_username`` is "" where bots have none.
    """
    found = _COMMAND.fullmatch(text.strip())
    if found is None:
        return None, False
    bot = found["bot"]
    if bot is not None and bot.lower() != bot_username.removeprefix("@").lower():
        return None, True
    return Command(found["name"].lower(), (found["args"] or "")), False
