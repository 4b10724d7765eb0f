"""How much one account may say: people by a rate, other bots by a brake.

Both count the events that were kept, so a restart forgets nothing, and by the platform's time,
so a backlog from an outage counts as it was written and not as it arrived.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import structlog

from gateway.model.events import EventKind, SenderKind
from gateway.policy.addressing import Brake, brake
from gateway.policy.ratelimit import rate_wait
from gateway.store import inbox

if TYPE_CHECKING:
    from gateway.model.events import InboundEvent
    from gateway.store.engine import Connection

log = structlog.get_logger(__name__)

#: reasons of refused events; a brake's is followed by the bot's id, by which it is counted
RATE, BRAKE = "rate", "bot_brake"

_MINUTE = timedelta(minutes=1)
_WINDOW = timedelta(minutes=10)


def objection(conn: Connection, event: InboundEvent, *, per_minute: int) -> str:
    """Return why an event that is admitted and meant for us is refused after all, or "".

    Whoever sits at the console is never refused, and neither is ``/stop``.
    """
    if event.sender.kind is SenderKind.OPERATOR or _stops(event):
        return ""
    if event.sender.kind is SenderKind.BOT:
        return _brake(conn, event)
    known = event.sender.id is not None
    said = inbox.spoken(conn, event, since=event.sent_at - _MINUTE, here=not known)
    return RATE if rate_wait(said, event.sent_at, per_minute=per_minute) > 0 else ""


def _stops(event: InboundEvent) -> bool:
    return event.command is not None and event.command.name == "stop"


def _brake(conn: Connection, event: InboundEvent) -> str:
    if event.kind is EventKind.EDIT:
        return ""
    since, reason = event.sent_at - _WINDOW, f"{BRAKE}:{event.sender.id}"
    said = inbox.spoken(conn, event, since=since, here=True)
    said += inbox.refused(conn, event, since=since, reason=reason)
    found = brake(said, event.sent_at, window=_WINDOW)
    if found is Brake.STOP:
        log.warning(
            "intake.bot_brake", action="intake", platform=event.platform, place=event.place.id
        )
    return "" if found is Brake.GO else reason
