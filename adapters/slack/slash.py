"""Pure: a slash command of the app becomes the message that it stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.slack.fields import Fields
from adapters.slack.manifest import SLACK
from adapters.slack.people import read_place, read_sender
from gateway.model.events import EventKind, InboundEvent
from gateway.model.ids import MessageId
from gateway.policy.commands import KNOWN, parse_command
from gateway.text.clean import clean

if TYPE_CHECKING:
    from datetime import datetime

    from adapters.slack.people import View


def parse_slash(payload: object, view: View, now: datetime) -> InboundEvent:
    """Return the event of a slash command.

    ``/new`` is our command of that name where the app registered one; any other name of the
    app's (``/hermes new``, ``/hermes hello``) stands for the command or the words behind it.
    Slack tells no time, so ``now`` counts. Raises ``ParseError``.
    """
    fields = Fields.of(payload, "payload")
    channel = fields.required("channel_id")
    text = _text(fields.required("command").removeprefix("/").lower(), clean(fields.text("text")))
    command, _ = parse_command(text, bot_username="")
    spoken = Fields(
        {"user": fields.required("user_id"), "team": fields.text("team_id")}, "payload"
    )
    return InboundEvent(
        kind=EventKind.MESSAGE,
        platform=SLACK,
        account=view.me.account,
        place=read_place(channel, "", "", threads=False),
        message=MessageId(f"command:{fields.required('trigger_id')}"),
        sender=read_sender(spoken, fields, view),
        sent_at=now,
        text=text,
        mentions_bot=True,
        command=command,
    )


def _text(name: str, text: str) -> str:
    if name in KNOWN:
        return f"/{name} {text}".rstrip()
    first = text.partition(" ")[0].lower()
    return f"/{text}" if first in KNOWN else text
