"""What the model is told about the commands of memory, so that it can name them to a person."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

#: of a chat's commands, those that are about memory
IN_CHATS = ("memory", "search", "title", "forget")
#: of the command line's, those that are
ON_THE_COMMAND_LINE = ("memory", "search", "sessions", "honcho", "people", "aliases")
LIMIT = 300


def surface(session: str, mode: str, *, chat: Iterable[str], terminal: Iterable[str] = ()) -> str:
    """Return the active session, the recall mode and the commands, in at most 300 characters.

    ``chat`` and ``terminal`` are the commands that there are; ``terminal`` is for whoever has
    the command line and () for the others. Names that do not fit are left out from the end.
    """
    chats, terminals = set(chat), set(terminal)
    names = [f"/{name}" for name in IN_CHATS if name in chats]
    lines = [name for name in ON_THE_COMMAND_LINE if name in terminals]
    head = f"Memory session {session}, recall mode {mode}."
    parts = [(" The person can send", names), (" On the command line: hermes-gateway", lines)]
    for lead, some in parts:
        while some and len(head) + len(lead) + len(f" {' | '.join(some)}.") > LIMIT:
            some.pop()
        if some:
            head += f"{lead} {' | '.join(some)}."
    return head[:LIMIT]
