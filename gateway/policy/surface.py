"""What the model is told about the commands of memory, so that it can name them to a person."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

#: of a chat's commands, those that are about memory
IN_CHATS = ("memory", "search", "title", "forget")
#: of the command line's, those that are
ON_THE_COMMAND_LINE = ("memory", "search", "sessions", "honcho", "people", "aliases")
#: of these what is below is named too, where there is room
TOLD_BELOW = ("honcho", "memory")
LIMIT = 300


def surface(
    session: str,
    mode: str,
    *,
    chat: Iterable[str],
    terminal: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """Return the active session, the recall mode and the commands, in at most 300 characters.

    ``chat`` are the commands that there are in chats. ``terminal`` are those of the command line
    with what is below each, for whoever has it. Names that do not fit are left out from the end;
    what is below a command is named where there is room left.
    """
    chats = set(chat)
    names = [f"/{name}" for name in IN_CHATS if name in chats]
    head = f"Memory session {session}, recall mode {mode}."
    head += _fitting(head, " The person can send", names)
    lead = " On the command line: hermes-gateway"
    return (head + _fitting(head, lead, _lines(len(head) + len(lead), terminal or {})))[:LIMIT]


def _lines(used: int, terminal: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the command line's commands, with what is below them as far as there is room."""
    told: dict[str, list[str]] = {name: [] for name in ON_THE_COMMAND_LINE if name in terminal}
    for name in (each for each in TOLD_BELOW if each in told):
        for below in terminal[name]:
            told[name].append(below)
            if used + len(_joined(map(_line, told, told.values()))) > LIMIT:
                told[name].pop()
                break
    return [_line(name, below) for name, below in told.items()]


def _line(name: str, below: Sequence[str]) -> str:
    return f"{name} {'/'.join(below)}" if below else name


def _fitting(head: str, lead: str, names: Sequence[str]) -> str:
    """Return a sentence of as many of the names as fit, the first ones."""
    some = list(names)
    while some and len(head) + len(lead) + len(_joined(some)) > LIMIT:
        some.pop()
    return lead + _joined(some) if some else ""


def _joined(names: Iterable[str]) -> str:
    return f" {' | '.join(names)}."
