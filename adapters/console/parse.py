"""A line of input → an ``InboundEvent``. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.console.manifest import PLATFORM
from gateway.model.events import EventKind, InboundEvent, Place, PlaceKind, Sender, SenderKind
from gateway.model.ids import AccountId, PlaceId
from gateway.policy.commands import parse_command
from gateway.text.clean import blank, clean

if TYPE_CHECKING:
    from datetime import datetime

    from gateway.model.ids import MessageId

ACCOUNT = AccountId("console")
PLACE = PlaceId("console")

_SENDER = Sender(SenderKind.OPERATOR)


def parse_line(
    line: str,
    *,
    message: MessageId,
    sent_at: datetime,
    joinable: bool,
    place: PlaceId = PLACE,
) -> InboundEvent | None:
    """Return the event for one message, None when nothing is left of it after cleaning.

    ``message`` must be unique over restarts: it is the event's only identity.
    """
    text = clean(line).strip()
    if blank(text):
        return None
    # There is no other bot here: a command that names one is text.
    command, _ = parse_command(text, bot_username="")
    return InboundEvent(
        kind=EventKind.MESSAGE,
        platform=PLATFORM,
        account=ACCOUNT,
        place=Place(PlaceKind.DIRECT, place),
        message=message,
        sender=_SENDER,
        sent_at=sent_at,
        text=text,
        command=command,
        joinable=joinable,
    )
