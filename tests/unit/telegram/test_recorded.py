"""Every recorded update becomes the event that it is."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from adapters.telegram.parse import parse
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
from gateway.model.ids import MessageId, PlaceId, ThreadId, UserId
from tests.unit.telegram.updates import ME, recorded

UPDATES = recorded()
ANN = Sender(SenderKind.PERSON, UserId("42"), name="Ann Lee", language="en")
DIRECT = Place(PlaceKind.DIRECT, PlaceId("42"))
GROUP = Place(PlaceKind.GROUP, PlaceId("-1009876543210"), title="Plain group")
FORUM = Place(PlaceKind.GROUP, PlaceId("-1001234567890"), title="Team")
FORUM_TOPIC = Place(PlaceKind.GROUP, PlaceId("-1001234567890"), ThreadId("7"), title="Team")


def file(kind: AttachmentKind, ref: str, size: int, name: str = "", mime: str = "") -> Attachment:
    return Attachment(kind, ref, name, mime, size)


def service(detail: str, **fields: Any) -> dict[str, Any]:
    return {"kind": EventKind.SERVICE, "text": "", "detail": detail, **fields}


EXPECTED: dict[str, dict[str, Any]] = {
    "dm": {"place": DIRECT, "sender": ANN, "text": "hello **x** https://example.com"},
    "dm_command": {"text": "/start abc", "command": Command("start", "abc")},
    "group_mention": {"place": GROUP, "text": "what's up 😀 ok", "mentions_bot": True},
    "group_text_mention_no_username": {"text": "hi", "mentions_bot": True},
    "forum_topic_message": {"place": FORUM_TOPIC, "text": "in topic", "reply": None},
    "forum_general_topic": {"place": FORUM, "mentions_bot": False},
    "reply_to_bot": {
        "text": "yes do it",
        "reply": ReplyRef(MessageId("9"), to_bot=True, author="Gate", text="Shall I deploy?"),
    },
    "reply_with_quote": {
        "text": "this part",
        "reply": ReplyRef(
            MessageId("9"), to_bot=True, author="Gate", text="long answer here", quote="answer"
        ),
    },
    "edited": {"kind": EventKind.EDIT, "message": "10", "text": "hello edited"},
    "from_other_bot_or_anonymous_admin": {
        "text": "anonymous admin",
        "sender": Sender(SenderKind.SERVICE, UserId("-1009876543210"), name="Plain group"),
    },
    "linked_channel_autoforward": {
        "text": "",
        "forward": Forward("post", "Chan"),
        "sender": Sender(SenderKind.SERVICE, UserId("-100555"), name="Chan"),
    },
    "forwarded_hidden": {"text": "", "sender": ANN, "forward": Forward("fwd", "Bob")},
    "photo": {
        "text": "look",
        "mentions_bot": True,
        "attachments": (file(AttachmentKind.IMAGE, "AgAC2", 90000),),
    },
    "document": {
        "text": "see",
        "attachments": (
            file(AttachmentKind.DOCUMENT, "BQAC1", 12345, "r.pdf", "application/pdf"),
        ),
    },
    "voice": {
        "text": "",
        "attachments": (file(AttachmentKind.VOICE, "AwAC1", 9000, mime="audio/ogg"),),
    },
    "album_1of2": {
        "text": "two pics",
        "album": "13579",
        "attachments": (file(AttachmentKind.IMAGE, "A1", 1),),
    },
    "album_2of2": {
        "text": "",
        "album": "13579",
        "attachments": (file(AttachmentKind.IMAGE, "A2", 1),),
    },
    "join_service": service("new_chat_members", place=GROUP),
    "my_chat_member_added": service("my_chat_member:member", message="update:19"),
    "my_chat_member_blocked_in_dm": {
        "kind": EventKind.UNREACHABLE,
        "place": DIRECT,
        "sender": ANN,
        "message": "update:20",
    },
    "migrate": {
        "kind": EventKind.MOVED,
        "place": Place(PlaceKind.GROUP, PlaceId("-4321"), title="old"),
        "moved_to": "-1009876543210",
        "text": "",
    },
    "topic_created": service("forum_topic_created"),
    "message_reaction": service("message_reaction", sender=ANN, message="update:23"),
    "callback_query": service("callback_query", sender=ANN, message="update:24"),
    "private_chat_topic": {"place": Place(PlaceKind.DIRECT, PlaceId("42"), ThreadId("31"))},
    "sticker": {"text": "", "attachments": (file(AttachmentKind.STICKER, "CAAC", 1, "👍"),)},
}


def test_every_recorded_update_has_an_expectation() -> None:
    assert EXPECTED.keys() == UPDATES.keys()


@pytest.mark.parametrize("name", EXPECTED)
def test_recorded(name: str) -> None:
    event = parse(UPDATES[name], me=ME)
    assert {key: getattr(event, key) for key in EXPECTED[name]} == EXPECTED[name]
    if "kind" not in EXPECTED[name]:
        assert event.kind is EventKind.MESSAGE


@pytest.mark.parametrize("name", UPDATES)
def test_platform_account_and_time(name: str) -> None:
    event = parse(UPDATES[name], me=ME)
    assert (event.platform, event.account) == ("telegram", "123456")
    assert event.sent_at == datetime(2026, 11, 29, 19, 53, 20, tzinfo=UTC)


def test_no_two_recorded_updates_share_a_key() -> None:
    keys = {name: parse(update, me=ME).dedupe_key for name, update in UPDATES.items()}
    assert len(set(keys.values())) == len(keys)
