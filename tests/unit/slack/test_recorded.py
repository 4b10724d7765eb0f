"""Every recorded payload becomes the event that it is."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from adapters.slack.parse import parse
from adapters.slack.people import View
from adapters.slack.slash import parse_slash
from gateway.model.events import (
    Attachment,
    AttachmentKind,
    EventKind,
    Place,
    PlaceKind,
    ReplyRef,
    Sender,
    SenderKind,
)
from gateway.model.ids import MessageId, PlaceId, ScopeId, ThreadId, UserId
from tests.unit.slack.samples import ME, VIEW, only, recorded

PAYLOADS = recorded()
TEAM = ScopeId("T1")
ANN = Sender(SenderKind.PERSON, UserId("U1"), TEAM)
DIRECT = Place(PlaceKind.DIRECT, PlaceId("D1"))


def channel(thread: str, place: str = "C1") -> Place:
    return Place(PlaceKind.CHANNEL, PlaceId(place), ThreadId(thread))


def service(detail: str, **fields: Any) -> dict[str, Any]:
    return {"kind": EventKind.SERVICE, "text": "", "detail": detail, **fields}


FILE = {"mime": "image/png", "size": 92582}
EXPECTED: dict[str, dict[str, Any]] = {
    "dm": {"place": DIRECT, "sender": ANN, "text": "hello & <b> e (https://e.com)"},
    "channel_plain": {
        "place": channel("1795982000.000200"),
        "text": "no mention",
        "mentions_bot": False,
        "reply": None,
    },
    "channel_mention_message": {"text": "deploy", "mentions_bot": True},
    "channel_mention_app_mention": {"text": "deploy", "mentions_bot": True},
    "private_channel": {"place": channel("1795982000.000400", "G1")},
    "mpim": {"place": channel("1795982000.000500", "G2")},
    "thread_reply": {"place": channel("1795982000.000300"), "text": "in thread", "reply": None},
    "thread_broadcast": {"place": channel("1795982000.000300"), "text": "also to channel"},
    "edited": {
        "kind": EventKind.EDIT,
        "message": "1795982000.000100",
        "revision": "1795982000.000800",
        "text": "hello edited",
        "sent_at": datetime(2026, 11, 29, 19, 53, 20, 100, tzinfo=UTC),
    },
    "unfurl_is_also_message_changed": service(
        "message_changed", message="1795982000.000100", revision="changed:1795982000.000802"
    ),
    "deleted": service("message_deleted", message="1795982000.000100", revision="deleted"),
    "other_bot": {
        "text": "beep",
        "sender": Sender(
            SenderKind.BOT, UserId("U9BOT"), TEAM, alternatives=(UserId("B999"),), name="other-app"
        ),
    },
    "classic_bot_message": {
        "text": "beep",
        "sender": Sender(SenderKind.BOT, UserId("B888"), TEAM, name="classic"),
    },
    "own_message_filtered": {"sender": Sender(SenderKind.BOT, UserId(ME.account), TEAM)},
    "file_share": {
        "text": "look",
        "attachments": (
            Attachment(AttachmentKind.IMAGE, "F1", "a.png", "image/png", 92582),
            Attachment(AttachmentKind.DOCUMENT, "F2", "b.pdf", "application/pdf", 92582),
        ),
    },
    "voice_clip": {
        "text": "",
        "attachments": (
            Attachment(AttachmentKind.VOICE, "F3", "audio_message.m4a", "audio/mp4", 92582),
        ),
    },
    "slack_connect_file_stub": {"attachments": (Attachment(AttachmentKind.OTHER, "F4"),)},
    "channel_join_message": service("channel_join"),
    "bot_added_member_joined": service(
        "member_joined_channel", sender=Sender(SenderKind.BOT, UserId(ME.account), TEAM)
    ),
    "reaction": service("reaction_added", sender=ANN),
    "assistant_thread_started": service(
        "assistant_thread_started",
        sender=ANN,
        place=Place(PlaceKind.DIRECT, PlaceId("D1"), ThreadId("1795982000.001900")),
    ),
    "assistant_user_message": {
        "text": "hi",
        "place": Place(PlaceKind.DIRECT, PlaceId("D1"), ThreadId("1795982000.001900")),
        "reply": None,
    },
    "me_message": {"text": "waves", "kind": EventKind.MESSAGE},
    "slash_command": {"text": "hi", "place": Place(PlaceKind.CHANNEL, PlaceId("C1"))},
}


@pytest.mark.parametrize("name", PAYLOADS)
def test_recorded(name: str) -> None:
    now = datetime(2026, 11, 29, tzinfo=UTC)
    if name == "slash_command":
        event = parse_slash(PAYLOADS[name], VIEW, now)
    else:
        event = only(parse(PAYLOADS[name], VIEW))
    assert event.account == ME.account
    expected = {"kind": EventKind.MESSAGE, **EXPECTED[name]}
    assert {key: getattr(event, key) for key in expected} == expected


def test_a_message_and_its_mention_are_one_event() -> None:
    """H-16: either may come first, or alone."""
    said = only(parse(PAYLOADS["channel_mention_message"], VIEW))
    mention = only(parse(PAYLOADS["channel_mention_app_mention"], VIEW))
    assert said == mention
    assert said.dedupe_key == mention.dedupe_key


def test_every_other_payload_has_its_own_key() -> None:
    names = [name for name in PAYLOADS if name not in ("slash_command", "channel_mention_message")]
    keys = {only(parse(PAYLOADS[name], VIEW)).dedupe_key for name in names}
    assert len(keys) == len(names)


def test_without_threads_a_channel_is_flat() -> None:
    flat = View(ME, threads=False)
    said = only(parse(PAYLOADS["channel_plain"], flat))
    threaded = only(parse(PAYLOADS["thread_reply"], flat))
    assert (said.place.thread, threaded.place.thread) == (None, "1795982000.000300")


def test_a_thread_that_the_bot_began_speaks_to_the_bot() -> None:
    begun = {**PAYLOADS["thread_reply"]["event"], "parent_user_id": "U0BOT"}
    event = only(parse({**PAYLOADS["thread_reply"], "event": begun}, VIEW))
    assert event.reply == ReplyRef(MessageId("1795982000.000300"), to_bot=True)
