"""Raw events become what the intake takes: parsed, or set aside with the reason."""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from typing import TYPE_CHECKING

import structlog

from adapters.discord.parse import parse
from gateway.model.events import EventKind
from gateway.ports import Received
from gateway.text.fields import ParseError

if TYPE_CHECKING:
    from adapters.discord.directory import Directory

log: structlog.stdlib.BoundLogger = structlog.get_logger()

#: messages whose words are remembered, to tell an edit from a mere touch
_REMEMBERED = 2000


class Reader:
    """Reads events of one account, in the light of its directory."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        self._words: OrderedDict[str, str] = OrderedDict()

    def read(self, kind: str, data: object) -> Received | None:
        """Return an event for the intake; None: nothing that is kept.

        An interaction's token, by which anybody could answer in our name, is left out of
        ``raw``.
        """
        raw = json.dumps({"t": kind, "d": _without_token(data)}, separators=(",", ":")).encode()
        try:
            event = parse(kind, data, self._directory.around(channel_of(data)))
        except ParseError as fault:
            name = f"sha256:{hashlib.sha256(raw).hexdigest()}"
            log.warning("discord.set_aside", action="receive", update=name, fault=str(fault))
            return Received(raw, name, fault=str(fault))
        if event is None or (
            event.kind is EventKind.EDIT and self._known(event.message, event.text)
        ):
            return None
        if event.kind in (EventKind.MESSAGE, EventKind.EDIT):
            self._remember(event.message, event.text)
        return Received(raw, event.message, event)

    def _known(self, message: str, words: str) -> bool:
        return self._words.get(message) == _digest(words)

    def _remember(self, message: str, words: str) -> None:
        self._words[message] = _digest(words)
        self._words.move_to_end(message)
        if len(self._words) > _REMEMBERED:
            self._words.popitem(last=False)


def channel_of(data: object) -> str | None:
    """Return the channel that an event names, None where it names none."""
    channel = data.get("channel_id") if isinstance(data, dict) else None
    return channel if isinstance(channel, str) else None


def _without_token(data: object) -> object:
    if not isinstance(data, dict) or "token" not in data:
        return data
    return {key: value for key, value in data.items() if key != "token"}


def _digest(words: str) -> str:
    return hashlib.sha256(words.encode("utf-8", "replace")).hexdigest()[:16]
