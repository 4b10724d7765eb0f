"""An answer shown while it is written: one message, edited now and then, finished by delivery."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.slack.drafts import Draft
from adapters.slack.manifest import LONGEST
from adapters.slack.render import render, size
from gateway.live import Live
from gateway.model.ids import TurnId
from gateway.text.markup import parse
from gateway.text.split import split

if TYPE_CHECKING:
    from adapters.slack.client import Client
    from gateway.live import Rhythm, Shown

#: seconds between edits, and before the first showing: short answers come whole at once
INTERVAL = 1.5
_MORE = " …"
_PREVIEW = "preview:"


def preview_key(turn: TurnId) -> str:
    """Return the key under which a preview's message is found again."""
    return f"{_PREVIEW}{turn}"


def previewed_turn(key: str) -> TurnId | None:
    """Return the turn of a preview's key, None for any other key."""
    return TurnId(key.removeprefix(_PREVIEW)) if key.startswith(_PREVIEW) else None


def begin(client: Client, shown: Shown, turn: TurnId, rhythm: Rhythm) -> Live:
    """Return a preview in ``shown``; nothing is posted before its first text."""
    where, key = shown.address, preview_key(turn)

    async def show(text: str) -> None:
        draft = Draft(where.place, excerpt(text), key, where.thread)
        if shown.message is None:
            await shown.post(client.post(draft))
        else:
            await client.update(draft, shown.message)

    return Live(show, rhythm, where.place, pause=INTERVAL)


def excerpt(markdown: str) -> str:
    """Return the beginning of an answer as one message that may be edited later."""
    pieces = split(parse(markdown), limit=LONGEST - len(_MORE.encode()), size=size)
    if not pieces:
        return _MORE.strip()
    return render(pieces[0]) + (_MORE if len(pieces) > 1 else "")
