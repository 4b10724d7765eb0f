"""Every recorded dispatch becomes the event that it is, or nothing."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from adapters.discord.parse import parse
from gateway.model.events import (
    Attachment,
    AttachmentKind,
    Command,
    EventKind,
    Forward,
    Place,
    PlaceKind,
    ReplyRef,
    Sender,
    SenderKind,
)
from gateway.model.ids import MessageId, PlaceId, UserId
from tests.unit.discord.events import around, recorded

EVENTS = recorded()
ANN = Sender(SenderKind.PERSON, UserId("42"), name="Ann")
DIRECT = Place(PlaceKind.DIRECT, PlaceId("842"))
CHANNEL = Place(PlaceKind.GROUP, PlaceId("901"), title="general")
THREAD = Place(PlaceKind.GROUP, PlaceId("905"), parent=PlaceId("901"), title="topic")
QUESTION = "1576694297925779458"

EXPECTED: dict[str, dict[str, Any]] = {
    "dm": {"place": DIRECT, "sender": ANN, "text": "hi", "mentions_bot": False},
    "guild_mention": {"place": CHANNEL, "text": "deploy?", "mentions_bot": True},
    "role_mention": {"text": "hey", "mentions_bot": True},
    "thread_message": {"place": THREAD, "text": "in thread", "mentions_bot": False},
    "reply_to_bot": {
        "text": "yes",
        "reply": ReplyRef(
            MessageId("1576694298055802885"), to_bot=True, author="gate", text="bot said"
        ),
    },
    "edited": {
        "kind": EventKind.EDIT,
        "message": QUESTION,
        "text": "deploy now",
        "revision": "1795983614227136-a41570ae",
    },
    "deleted": {
        "kind": EventKind.SERVICE,
        "message": f"deleted:{QUESTION}",
        "place": CHANNEL,
        "detail": "deleted",
        "sent_at": datetime(2026, 11, 29, 20, 20, 14, 189000, tzinfo=UTC),
    },
    "other_bot": {"sender": Sender(SenderKind.BOT, UserId("555"), name="Otherbot")},
    "webhook": {"sender": Sender(SenderKind.WEBHOOK, UserId("666"), name="CI")},
    "attachments": {
        "text": "two",
        "attachments": (
            Attachment(
                AttachmentKind.IMAGE,
                "901/1576694298219380747/1576694298219380745",
                "a.png",
                "image/png",
                1,
            ),
            Attachment(
                AttachmentKind.DOCUMENT,
                "901/1576694298219380747/1576694298219380746",
                "b.pdf",
                "application/pdf",
                1,
            ),
        ),
    },
    "voice_note": {
        "text": "",
        "attachments": (
            Attachment(
                AttachmentKind.VOICE,
                "901/1576694298244546573/1576694298244546572",
                "voice-message.ogg",
                "audio/ogg",
                4,
            ),
        ),
    },
    "forward": {"text": "", "forward": Forward("forwarded text"), "reply": None},
    "join_system_message": {"kind": EventKind.SERVICE, "detail": "type:7"},
    "slash_interaction": {
        "message": "interaction:1576694298429095953",
        "place": CHANNEL,
        "sender": Sender(SenderKind.PERSON, UserId("42"), name="Ann", language="en-us"),
        "command": Command("ask", "hi"),
        "text": "",
    },
}
#: previews, presses of buttons, and what only tells about the guild
NOTHING = {
    *("embed_unfurl_update", "member_join", "reaction", "typing"),
    *("button_interaction", "thread_create"),
}


def test_nothing_recorded_is_left_out() -> None:
    assert EVENTS.keys() == EXPECTED.keys() | NOTHING


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_recorded(name: str) -> None:
    event = EVENTS[name]
    found = parse(event["t"], event["d"], around(event["d"]["channel_id"]))
    assert found is not None
    assert {key: getattr(found, key) for key in EXPECTED[name]} == EXPECTED[name]
    assert (found.platform, found.account) == ("discord", "111")
    assert found.sent_at.utcoffset() == UTC.utcoffset(None)


@pytest.mark.parametrize("name", sorted(NOTHING))
def test_what_nobody_said_is_nothing(name: str) -> None:
    event = EVENTS[name]
    assert parse(event["t"], event["d"], around(event["d"].get("channel_id"))) is None
