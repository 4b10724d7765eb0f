"""Rules of parsing that no single recorded event shows."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.discord.parse import parse
from gateway.model.events import (
    AttachmentKind,
    Command,
    EventKind,
    InboundEvent,
    PlaceKind,
    ReplyRef,
    SenderKind,
)
from gateway.model.ids import MessageId
from tests.unit.discord.events import (
    ANN,
    CHANNEL,
    GATE,
    GUILD,
    MESSAGE,
    THREAD,
    around,
    message,
    recorded,
)


def read(channel: str | None = None, **fields: Any) -> InboundEvent:
    found = parse("MESSAGE_CREATE", message(**fields), around(channel))
    assert found is not None
    return found


def test_ids_keep_every_digit() -> None:
    """H-02."""
    author = ANN | {"id": "812345678901234567"}
    assert read(author=author).sender.id == "812345678901234567"
    exact = read(author=ANN | {"id": 812345678901234567})
    assert exact.sender.id == "812345678901234567"


def test_names_are_for_display_only() -> None:
    """H-10: who holds the handle today makes no difference to the id."""
    before = read(author=ANN | {"username": "mira_k"}).sender
    after = read(author=ANN | {"username": "mira_new", "global_name": "Mira"}).sender
    assert (before.id, before.alternatives) == (after.id, after.alternatives) == ("42", ())


def test_a_webhook_is_no_person_whatever_its_name() -> None:
    """H-11."""
    for name in ("Ari", "Rowan"):
        author = {"id": "812345678900000777", "username": name, "bot": True}
        sender = read(author=author, webhook_id="812345678900000777").sender
        assert (sender.kind, sender.name) == (SenderKind.WEBHOOK, name)


@pytest.mark.parametrize(
    ("author", "kind"),
    [
        (ANN, SenderKind.PERSON),
        (ANN | {"bot": True}, SenderKind.BOT),
        (ANN | {"system": True}, SenderKind.SERVICE),
        (None, SenderKind.UNKNOWN),
    ],
)
def test_who_speaks(author: dict[str, Any] | None, kind: SenderKind) -> None:
    assert read(author=author).sender.kind is kind


def test_own_messages_are_nothing() -> None:
    """H-43: told apart by id, through whatever they were posted."""
    for own in (
        message(author=GATE),
        message(author=GATE, edited_timestamp="2026-11-29T21:00:00+00:00"),
    ):
        assert parse("MESSAGE_CREATE", own, around()) is None
        assert parse("MESSAGE_UPDATE", own, around()) is None


def test_roles_and_nickname_come_from_the_guild() -> None:
    member = {"nick": "Captain", "roles": ["1", "2"]}
    sender = read(CHANNEL, channel_id=CHANNEL, guild_id=GUILD, member=member).sender
    assert (sender.name, sender.roles) == ("Captain", ("1", "2"))


def test_a_thread_is_a_place_with_a_parent() -> None:
    """H-26."""
    place = read(THREAD, channel_id=THREAD, guild_id=GUILD).place
    assert (place.kind, place.id, place.parent) == (PlaceKind.GROUP, THREAD, CHANNEL)


def test_a_thread_that_nobody_told_about_has_no_parent() -> None:
    """H-26: no list can cover it, so it is refused."""
    place = read(channel_id="999", guild_id=GUILD).place
    assert (place.kind, place.parent) == (PlaceKind.GROUP, None)


def test_a_guilds_channel_is_never_a_direct_message() -> None:
    """Whatever the event leaves out: what is private would be said to everybody."""
    place = read(CHANNEL, channel_id=CHANNEL).place
    assert (place.kind, place.id) == (PlaceKind.GROUP, CHANNEL)


@pytest.mark.parametrize("number", [1, 3, 6, 7, 8, 18, 21, 22, 46])
def test_system_messages_are_service(number: int) -> None:
    """H-33."""
    event = read(content="pinned", type=number)
    assert (event.kind, event.text) == (EventKind.SERVICE, "")


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("/new", Command("new")),
        ("/title My trip", Command("title", "My trip")),
        ("<@111> /new", Command("new")),
        ("please /new", None),
    ],
)
def test_commands_may_be_typed(text: str, command: Command | None) -> None:
    assert read(content=text, mentions=[GATE]).command == command


def test_an_answer_to_a_deleted_message() -> None:
    reference = {"type": 0, "message_id": "5"}
    event = read(type=19, message_reference=reference, referenced_message=None)
    assert event.reply == ReplyRef(MessageId("5"))


def test_a_crosspost_is_no_reply() -> None:
    event = read(message_reference={"message_id": "5", "channel_id": "6"})
    assert event.reply is None


def test_a_forward_brings_its_files() -> None:
    file = {"id": "7", "filename": "a.png", "content_type": "image/png", "size": 3}
    snapshot = {"message": {"content": "words of <@43>", "attachments": [file]}}
    event = read(message_reference={"type": 1}, message_snapshots=[snapshot])
    assert event.forward is not None
    assert (event.text, event.forward.text) == ("", "words of <@43>")
    assert [each.ref for each in event.attachments] == [f"842/{MESSAGE}/7"]


def test_many_files_are_one_message() -> None:
    """H-37."""
    files = [
        {"id": str(number), "filename": "x", "content_type": mime}
        for number, mime in enumerate(("image/jpeg", "video/mp4", "audio/mpeg; rate=4", "", None))
    ]
    event = read(content="caption", attachments=files, sticker_items=[{"name": "Wave"}], poll={})
    kinds = [each.kind for each in event.attachments]
    assert kinds == [
        *(AttachmentKind.IMAGE, AttachmentKind.VIDEO, AttachmentKind.AUDIO),
        *(AttachmentKind.DOCUMENT, AttachmentKind.DOCUMENT),
        *(AttachmentKind.STICKER, AttachmentKind.OTHER),
    ]


def test_each_edit_is_one_event() -> None:
    """H-18: the same edit again has the same key, another one has another."""
    first, second = "2026-11-29T21:00:00+00:00", "2026-11-29T21:00:01+00:00"

    def key(content: str, edited: str) -> str:
        event = parse("MESSAGE_UPDATE", message(content, edited_timestamp=edited), around())
        assert event is not None
        return event.dedupe_key

    assert key("a", first) == key("a", first)
    assert len({key("a", first), key("b", first), key("a", second)}) == 3


@pytest.mark.parametrize(
    "update",
    [
        message("x"),
        {"id": MESSAGE, "channel_id": "842", "embeds": []},
        message("x", edited_timestamp="2026-11-29T21:00:00+00:00", type=6),
    ],
)
def test_an_update_without_an_edit_is_nothing(update: dict[str, Any]) -> None:
    """H-18."""
    assert parse("MESSAGE_UPDATE", update, around()) is None


def test_the_arguments_of_a_command_are_clean_like_any_words() -> None:
    """H-51."""
    event = parse(
        "INTERACTION_CREATE",
        recorded()["slash_interaction"]["d"]
        | {"data": {"name": "title", "options": [{"name": "words", "value": "a\0b \ud83d"}]}},
        around(),
    )
    assert event is not None
    assert event.command == Command("title", "ab \ufffd")


@pytest.mark.parametrize(
    ("context", "kind"), [(None, PlaceKind.DIRECT), (1, PlaceKind.DIRECT), (2, PlaceKind.GROUP)]
)
def test_a_command_outside_a_guild(context: int | None, kind: PlaceKind) -> None:
    """In a conversation of other people the bot is no guest: that is nobody's own with it."""
    data = recorded()["slash_interaction"]["d"]
    direct = {key: value for key, value in data.items() if key not in ("guild_id", "member")}
    direct |= {"user": ANN, "channel_id": "842", "context": context}
    event = parse("INTERACTION_CREATE", direct, around())
    assert event is not None
    assert (event.place.kind, event.sender.id) == (kind, "42")
