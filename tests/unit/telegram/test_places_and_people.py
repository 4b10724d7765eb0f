"""Who spoke and where: topics, moves, senders that are nobody, edits."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.telegram.parse import parse
from adapters.telegram.words import Me
from gateway.model.events import (
    AttachmentKind,
    EventKind,
    Forward,
    InboundEvent,
    PlaceKind,
    ReplyRef,
    SenderKind,
)
from gateway.model.ids import AccountId, MessageId
from tests.unit.telegram.updates import (
    ANN,
    CHANNEL,
    DIRECT,
    FORUM,
    GATE,
    GROUP,
    ME,
    WHEN,
    Json,
    message,
    read,
    said,
)

OLD_GROUP: Json = {"id": -4455667, "title": "Kitchen", "type": "group"}
NEW_GROUP: Json = {"id": -1005550004444, "title": "Kitchen", "type": "supergroup"}


@pytest.mark.parametrize(
    ("chat", "fields", "thread"),
    [
        (GROUP, {}, None),
        (GROUP, {"message_thread_id": 10}, None),
        (GROUP, {"message_thread_id": 10, "is_topic_message": False}, None),
        (FORUM, {}, None),
        (FORUM, {"message_thread_id": 1, "is_topic_message": True}, None),
        (FORUM, {"message_thread_id": 55, "is_topic_message": True}, "55"),
        (FORUM, {"message_thread_id": 55}, None),
        (DIRECT, {"message_thread_id": 31, "is_topic_message": True}, "31"),
    ],
)
def test_threads(chat: Json, fields: Json, thread: str | None) -> None:
    """H-24, H-25: only a topic is a thread, and General is none."""
    assert said("hi", chat, **fields).place.thread == thread


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("private", PlaceKind.DIRECT),
        ("group", PlaceKind.GROUP),
        ("supergroup", PlaceKind.GROUP),
        ("channel", PlaceKind.CHANNEL),
    ],
)
def test_kinds_of_place(kind: str, expected: PlaceKind) -> None:
    assert said("hi", {"id": 7, "type": kind}).place.kind is expected


def test_ids_are_exact_text_at_any_size() -> None:
    huge = 2**53 + 1
    event = read(
        message(
            {**GROUP, "id": -huge}, text="hi", message_id=huge, **{"from": {**ANN, "id": huge}}
        )
    )
    assert (event.sender.id, event.place.id, event.message) == (
        "9007199254740993",
        "-9007199254740993",
        "9007199254740993",
    )


@pytest.mark.parametrize(
    ("fields", "kind", "identity"),
    [
        ({}, SenderKind.PERSON, "42"),
        ({"from": {**ANN, "id": 1087968824, "is_bot": True}}, SenderKind.SERVICE, "1087968824"),
        ({"from": {**ANN, "id": 777000}}, SenderKind.SERVICE, "777000"),
        ({"from": {**ANN, "id": 136817688, "is_bot": True}}, SenderKind.SERVICE, "136817688"),
        ({"sender_chat": CHANNEL}, SenderKind.SERVICE, "-100555"),
        ({"from": {**ANN, "id": 99, "is_bot": True}}, SenderKind.BOT, "99"),
        ({"from": GATE}, SenderKind.BOT, "123456"),
        ({"from": None}, SenderKind.UNKNOWN, None),
        ({"from": None, "sender": {"id": 42}}, SenderKind.UNKNOWN, None),
    ],
)
def test_senders(fields: Json, kind: SenderKind, identity: str | None) -> None:
    """H-07: a sender that cannot be read is nobody, never somebody who is known."""
    sender = said("hi", **fields).sender
    assert (sender.kind, sender.id) == (kind, identity)


@pytest.mark.parametrize("username", ["mira_k", "mira_new", None])
def test_a_handle_is_no_part_of_an_identity(username: str | None) -> None:
    """H-10: nothing of the sender changes with the handle."""
    sender = said("hi", **{"from": {**ANN, "username": username}}).sender
    assert sender == said("hi").sender
    assert sender.alternatives == ()


def test_keys_tell_bots_and_chats_apart() -> None:
    """H-19."""
    private, group = message(text="hi", message_id=7), message(GROUP, text="hi", message_id=7)
    bots = [Me(AccountId(bot), "gate_bot") for bot in ("111", "222")]
    keys = [
        parse({"update_id": 900, "message": body}, me=me).dedupe_key
        for body in (private, group)
        for me in bots
    ]
    assert len(set(keys)) == 4


def test_the_same_message_has_one_key_whatever_its_update_number() -> None:
    """H-15."""
    body = message(text="/restart")
    keys = {parse({"update_id": n, "message": body}, me=ME).dedupe_key for n in (5001, 5002)}
    assert len(keys) == 1


def edited(text: str, *, kind: str = "edited_message", **fields: Any) -> InboundEvent:
    chat = CHANNEL if kind == "edited_channel_post" else DIRECT
    return read(message(chat, message_id=150, text=text, **fields), kind)


@pytest.mark.parametrize("kind", ["edited_message", "edited_channel_post"])
def test_each_edit_is_one_event(kind: str) -> None:
    """H-20: also within one second, and also where Telegram gives no date."""
    edits = [
        edited("hello", kind=kind, edit_date=WHEN + 5),
        edited("hello!", kind=kind, edit_date=WHEN + 5),
        edited("hello!", kind=kind, edit_date=WHEN + 6),
        edited("hello!", kind=kind),
    ]
    again = edited("hello", kind=kind, edit_date=WHEN + 5)
    assert {event.kind for event in edits} == {EventKind.EDIT}
    assert len({event.dedupe_key for event in edits}) == 4
    assert again.dedupe_key == edits[0].dedupe_key
    assert edits[0].revision.startswith(f"{WHEN + 5}-")
    assert edited("hello").dedupe_key != said("hello", DIRECT, message_id=150).dedupe_key


def test_a_channel_post_has_no_person() -> None:
    event = read(
        message(CHANNEL, text="news", sender_chat=CHANNEL, **{"from": None}), "channel_post"
    )
    assert (event.kind, event.sender.kind) == (EventKind.MESSAGE, SenderKind.SERVICE)
    assert (event.place.kind, event.sender.name) == (PlaceKind.CHANNEL, "News")


def test_both_notices_of_a_move_say_old_and_new() -> None:
    """H-28."""
    leaving = read(message(OLD_GROUP, migrate_to_chat_id=NEW_GROUP["id"], message_id=27))
    arriving = read(message(NEW_GROUP, migrate_from_chat_id=OLD_GROUP["id"], message_id=1))
    for event in (leaving, arriving):
        assert (event.kind, event.text) == (EventKind.MOVED, "")
        assert (event.place.id, event.moved_to) == ("-4455667", "-1005550004444")


def test_a_move_never_takes_the_key_of_a_message_of_the_old_group() -> None:
    arriving = read(message(NEW_GROUP, migrate_from_chat_id=OLD_GROUP["id"], message_id=1))
    assert arriving.dedupe_key != said("first", OLD_GROUP, message_id=1).dedupe_key


def member(chat: Json, status: str) -> InboundEvent:
    states = {"old_chat_member": {"status": "member"}, "new_chat_member": {"status": status}}
    return read({"chat": chat, "from": ANN, "date": WHEN, **states}, "my_chat_member")


@pytest.mark.parametrize(
    ("chat", "status", "kind"),
    [
        (DIRECT, "kicked", EventKind.UNREACHABLE),
        (DIRECT, "left", EventKind.UNREACHABLE),
        (DIRECT, "member", EventKind.SERVICE),
        (GROUP, "kicked", EventKind.SERVICE),
        (GROUP, "administrator", EventKind.SERVICE),
    ],
)
def test_blocking_the_bot_makes_a_person_unreachable(
    chat: Json, status: str, kind: EventKind
) -> None:
    """H-35."""
    event = member(chat, status)
    assert (event.kind, event.detail) == (kind, f"my_chat_member:{status}")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("new_chat_members", [ANN]),
        ("left_chat_member", ANN),
        ("pinned_message", message(text="pinned words")),
        ("new_chat_title", "Kitchen 2"),
        ("forum_topic_closed", {}),
        ("general_forum_topic_hidden", {}),
        ("video_chat_started", {}),
        ("thing_of_next_year", {"text": "words"}),
    ],
)
def test_service_messages_are_no_speech(name: str, value: object) -> None:
    event = read(message(FORUM, **{name: value}))
    assert (event.kind, event.detail, event.text) == (EventKind.SERVICE, name, "")


def test_the_creation_of_a_topic_is_not_answered_by_its_messages() -> None:
    topic = {"message_thread_id": 55, "is_topic_message": True}
    root = message(FORUM, message_id=55, forum_topic_created={"name": "Deploys"})
    bare_root = message(FORUM, message_id=55, text="a discussion post")
    real = message(FORUM, message_id=60, text="asked", **topic)
    assert said("hi", FORUM, reply_to_message=root, **topic).reply is None
    assert said("hi", FORUM, reply_to_message=bare_root, **topic).reply is None
    assert said("hi", FORUM, reply_to_message=real, **topic).reply == ReplyRef(
        MessageId("60"), author="Ann Lee", text="asked"
    )


def test_a_reply_to_a_picture_quotes_its_caption() -> None:
    answered = message(message_id=9, photo=[], caption="the cat")
    assert said("nice", DIRECT, reply_to_message=answered).reply == ReplyRef(
        MessageId("9"), author="Ann Lee", text="the cat"
    )


def test_a_reply_across_chats_names_no_message_of_this_chat() -> None:
    external = {
        "origin": {"type": "channel", "chat": CHANNEL, "message_id": 3, "date": WHEN},
        "chat": CHANNEL,
        "message_id": 3,
    }
    event = said("what is this?", external_reply=external, quote={"text": "post"})
    assert event.reply == ReplyRef(MessageId("external:-100555:3"), author="News", quote="post")


@pytest.mark.parametrize(
    ("origin", "author"),
    [
        ({"type": "user", "sender_user": {**ANN, "first_name": "Bob"}}, "Bob Lee"),
        ({"type": "hidden_user", "sender_user_name": "Bob"}, "Bob"),
        ({"type": "chat", "sender_chat": GROUP}, "Kitchen"),
        ({"type": "channel", "chat": CHANNEL}, "News"),
        ({"type": "kind of next year"}, ""),
    ],
)
def test_forwarded_words_are_not_the_speakers(origin: Json, author: str) -> None:
    text = "@gate_bot /new do it"
    mark = [{"type": "mention", "offset": 0, "length": 9}]
    event = said(text, forward_origin={**origin, "date": WHEN}, entities=mark)
    assert event.forward == Forward("/new do it", author)
    assert (event.text, event.command, event.mentions_bot) == ("", None, False)


def test_the_result_of_an_inline_bot_is_not_the_speakers() -> None:
    event = said("/stop everything", via_bot={**GATE, "first_name": "Pic"})
    assert event.forward == Forward("/stop everything", "Pic")
    assert (event.text, event.command) == ("", None)


def test_the_form_of_forwards_of_older_servers_is_known() -> None:
    event = said("old", forward_date=WHEN, forward_sender_name="Bob")
    assert (event.text, event.forward) == ("", Forward("old"))


@pytest.mark.parametrize(
    ("fields", "kind", "ref", "name"),
    [
        ({"audio": {"file_id": "a", "file_name": "x.mp3"}}, AttachmentKind.AUDIO, "a", "x.mp3"),
        ({"video": {"file_id": "v"}}, AttachmentKind.VIDEO, "v", ""),
        ({"video_note": {"file_id": "n"}}, AttachmentKind.VIDEO, "n", ""),
        (
            {"animation": {"file_id": "g"}, "document": {"file_id": "g"}},
            AttachmentKind.VIDEO,
            "g",
            "",
        ),
        ({"location": {"latitude": 1.5, "longitude": 2}}, AttachmentKind.OTHER, "", "location"),
        ({"venue": {}, "location": {}}, AttachmentKind.OTHER, "", "venue"),
        ({"poll": {"question": "q"}}, AttachmentKind.OTHER, "", "poll"),
    ],
)
def test_attachments(fields: Json, kind: AttachmentKind, ref: str, name: str) -> None:
    event = read(message(**fields))
    assert event.kind is EventKind.MESSAGE
    assert [(file.kind, file.ref, file.name) for file in event.attachments] == [(kind, ref, name)]
