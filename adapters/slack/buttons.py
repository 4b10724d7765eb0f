"""Pure: buttons as Slack's blocks, and a press of one as an event."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapters.slack.fields import Fields
from adapters.slack.manifest import SLACK
from adapters.slack.people import read_place, read_sender
from gateway.model.choice import Tone, read_data
from gateway.model.events import EventKind, InboundEvent
from gateway.model.ids import MessageId

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from adapters.slack.people import View
    from gateway.model.choice import Choice

#: the type of a payload that tells of a pressed button
PRESSES = "block_actions"
#: characters of one block of text
_BLOCK = 3000
_STYLES = {Tone.GOOD: {"style": "primary"}, Tone.BAD: {"style": "danger"}}


def blocks(text: str, choice: Choice) -> Sequence[dict[str, Any]]:
    """Return mrkdwn with buttons under it; Slack shows the blocks in place of the text."""
    words = [
        {"type": "section", "text": {"type": "mrkdwn", "text": piece}, "expand": True}
        for piece in _pieces(text)
    ]
    buttons = [
        {
            "type": "button",
            "action_id": option.value,
            "value": choice.data(option),
            "text": {"type": "plain_text", "text": option.label},
            **_STYLES.get(option.tone, {}),
        }
        for option in choice.options
    ]
    return [*words, {"type": "actions", "elements": buttons}]


def _pieces(text: str) -> Iterator[str]:
    """Yield text by blocks of Slack's size, cut behind lines where there are any."""
    while text:
        end = len(text)
        if end > _BLOCK:
            end = text.rfind("\n", 0, _BLOCK) + 1 or _BLOCK
        yield text[:end]
        text = text[end:]


def is_press(payload: object) -> bool:
    """Tell whether a payload is one of pressed buttons and the like."""
    return isinstance(payload, dict) and payload.get("type") == PRESSES


def parse_press(payload: object, view: View, now: datetime) -> InboundEvent | None:
    """Return the event of a pressed button of ours, None for any other.

    Slack does not say whether a press came before, so its ``trigger_id`` counts, and tells the
    time of none of the clocks that we know, so ``now`` does. Raises ``ParseError``.
    """
    fields = Fields.of(payload, "payload")
    container, user = fields.child("container"), fields.child("user")
    if container is None or user is None or not container.text("message_ts"):
        return None
    message = MessageId(container.ts("message_ts"))
    values = [action.text("value") for action in fields.children("actions")]
    pressed = next(filter(None, (read_data(value, message) for value in values)), None)
    if pressed is None:
        return None
    team = fields.child("team")
    spoken = {"user": user.required("id"), "team": user.text("team_id")}
    home = Fields({"team_id": "" if team is None else team.text("id")}, fields.path)
    thread = container.text("thread_ts")
    return InboundEvent(
        kind=EventKind.PRESS,
        platform=SLACK,
        account=view.me.account,
        place=read_place(container.required("channel_id"), thread, "", threads=False),
        message=MessageId(f"press:{fields.required('trigger_id')}"),
        sender=read_sender(Fields(spoken, user.path), home, view),
        sent_at=now,
        pressed=pressed,
    )


def without_addresses(payload: object) -> object:
    """Return a payload without the addresses by which anybody could answer in our name."""
    if not isinstance(payload, dict):
        return payload
    return {key: value for key, value in payload.items() if key != "response_url"}
