"""Was the bot spoken to, and when do two bots have to stop."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from gateway.model.events import PlaceKind

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from gateway.model.events import InboundEvent

_NONE: frozenset[str] = frozenset()


class Ground(StrEnum):
    """What makes a message ours, or not."""

    DIRECT = "direct"
    COMMAND = "command"
    MENTION = "mention"
    REPLY = "reply"
    FREE_RESPONSE = "free_response"
    NO_MENTION_NEEDED = "no_mention_needed"
    FOREIGN_COMMAND = "foreign_command"
    UNADDRESSED = "unaddressed"


@dataclass(frozen=True, slots=True)
class Addressed:
    """The decision; ``yes`` means that the bot answers."""

    yes: bool
    reason: Ground


def addressed(
    event: InboundEvent,
    *,
    require_mention: bool,
    free_response: frozenset[str],
    place_ids: frozenset[str] = _NONE,
) -> Addressed:
    """Decide by what the adapter parsed from entities, never by searching the text.

    ``free_response`` holds places as ``id`` or ``platform:id``; ``place_ids`` are further ids
    of the event's place (before a group moved). A command for another bot is never ours.
    """
    if event.foreign_command:
        return Addressed(False, Ground.FOREIGN_COMMAND)
    grounds = {
        Ground.DIRECT: event.place.kind is PlaceKind.DIRECT,
        Ground.COMMAND: event.command is not None,
        Ground.MENTION: event.mentions_bot,
        Ground.REPLY: event.reply is not None and event.reply.to_bot,
        Ground.FREE_RESPONSE: not free_response.isdisjoint(_place_forms(event, place_ids)),
        Ground.NO_MENTION_NEEDED: not require_mention,
    }
    reason = next((ground for ground, holds in grounds.items() if holds), None)
    if reason is None:
        return Addressed(False, Ground.UNADDRESSED)
    return Addressed(True, reason)


def _place_forms(event: InboundEvent, place_ids: frozenset[str]) -> set[str]:
    ids = {event.place.id, *place_ids}
    if event.place.parent is not None:
        ids.add(event.place.parent)
    return {form for each in ids for form in (each, f"{event.platform}:{each}")}


class Brake(StrEnum):
    """Whether another bot's message is still answered."""

    GO = "go"
    #: the first one that is not: the moment for one log line
    STOP = "stop"
    STOPPED = "stopped"


def brake(
    recent: Sequence[datetime],
    now: datetime,
    *,
    rounds: int = 5,
    window: timedelta = timedelta(minutes=10),
) -> Brake:
    """Decide about a message of another bot in one place.

    ``recent`` holds the times of that bot's earlier messages to ours there, answered or not, so
    a bot that goes on talking stays unanswered until it has been silent for the window. People
    never pass through here.
    """
    seen = sum(now - at < window for at in recent)
    if seen < rounds:
        return Brake.GO
    return Brake.STOP if seen == rounds else Brake.STOPPED
