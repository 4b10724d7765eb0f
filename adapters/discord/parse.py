"""Pure: a raw event of Discord's gateway becomes one InboundEvent, nothing, or a ParseError."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from adapters.discord.fields import Fields
from adapters.discord.manifest import DISCORD
from adapters.discord.media import read_attachments
from adapters.discord.people import read_author, read_place, read_user
from adapters.discord.words import read_words, readable
from gateway.model.choice import read_data
from gateway.model.events import (
    Command,
    EventKind,
    Forward,
    InboundEvent,
    ReplyRef,
    Sender,
    SenderKind,
)
from gateway.model.ids import MessageId
from gateway.policy.commands import parse_command
from gateway.text.clean import clean

if TYPE_CHECKING:
    from collections.abc import Callable

    from adapters.discord.directory import Surroundings

#: kinds of messages that somebody wrote: plain ones and replies
_SPOKEN = frozenset({0, 19})
_REPLY = 19
_FORWARD = 1
_COMMAND = 2
_COMPONENT = 3


def parse(kind: str, data: object, around: Surroundings) -> InboundEvent | None:
    """Return the event of one dispatch, None where there is nothing to keep.

    Kept are messages, changes of their words, deletions, slash commands and our buttons; a
    link's preview and the bot's own messages are not. Raises ``ParseError``, which quotes no
    value.
    """
    reader = _READERS.get(kind)
    if reader is None:
        return None
    event = reader(Fields.of(data, kind), around)
    if event is not None and event.sender.id == str(around.account):
        return None
    return event


def _created(message: Fields, around: Surroundings) -> InboundEvent:
    event = _bare(message, around)
    number = message.code("type")
    if number not in _SPOKEN:
        return replace(event, kind=EventKind.SERVICE, detail=f"type:{number}")
    return _said(event, message, around)


def _updated(message: Fields, around: Surroundings) -> InboundEvent | None:
    """A preview or a pin changes no words and leaves the time of the last edit as it was."""
    if not message.has("edited_timestamp") or not message.has("author"):
        return None
    if message.code("type") not in _SPOKEN:
        return None
    event = _said(_bare(message, around), message, around)
    digest = hashlib.sha256(message.text("content").encode("utf-8", "replace")).hexdigest()[:8]
    edited = int(message.moment("edited_timestamp").timestamp() * 1_000_000)
    return replace(event, kind=EventKind.EDIT, revision=f"{edited}-{digest}")


def _deleted(gone: Fields, around: Surroundings) -> InboundEvent:
    message = gone.id()
    return InboundEvent(
        kind=EventKind.SERVICE,
        platform=DISCORD,
        account=around.account,
        place=read_place(gone, around.channel),
        message=MessageId(f"deleted:{message}"),
        sender=Sender(SenderKind.UNKNOWN),
        sent_at=gone.made_at(),
        detail="deleted",
    )


def _interaction(interaction: Fields, around: Surroundings) -> InboundEvent | None:
    data = interaction.child("data")
    if data is None:
        return None
    match interaction.code("type"):
        case number if number == _COMMAND:
            return _used(interaction, data, around)
        case number if number == _COMPONENT:
            return _pressed(interaction, data, around)
    return None


def _used(interaction: Fields, data: Fields, around: Surroundings) -> InboundEvent:
    """A slash command from Discord's own menu; its options are the command's arguments."""
    values = (clean(str(each.values.get("value", ""))) for each in data.children("options"))
    command = Command(data.name("name").lower(), " ".join(values))
    return replace(_acted(interaction, around), command=command)


def _pressed(interaction: Fields, data: Fields, around: Surroundings) -> InboundEvent | None:
    """A button of ours; one of another program's is nothing."""
    message = interaction.child("message")
    if message is None:
        return None
    pressed = read_data(data.text("custom_id"), MessageId(message.id()))
    if pressed is None:
        return None
    return replace(_acted(interaction, around), kind=EventKind.PRESS, pressed=pressed)


def _acted(interaction: Fields, around: Surroundings) -> InboundEvent:
    member = interaction.child("member")
    user = interaction.child("user") or (None if member is None else member.child("user"))
    sender = Sender(SenderKind.UNKNOWN) if user is None else read_user(user, member)
    language = interaction.name("locale").lower() or None
    return InboundEvent(
        kind=EventKind.MESSAGE,
        platform=DISCORD,
        account=around.account,
        place=read_place(interaction, around.channel),
        message=MessageId(f"interaction:{interaction.id()}"),
        sender=replace(sender, language=language),
        sent_at=interaction.made_at(),
    )


def _bare(message: Fields, around: Surroundings) -> InboundEvent:
    return InboundEvent(
        kind=EventKind.MESSAGE,
        platform=DISCORD,
        account=around.account,
        place=read_place(message, around.channel),
        message=MessageId(message.id()),
        sender=read_author(message),
        sent_at=message.moment("timestamp"),
    )


def _said(event: InboundEvent, message: Fields, around: Surroundings) -> InboundEvent:
    source = f"{event.place.id}/{event.message}"
    words = read_words(message, around)
    command, foreign = parse_command(words.text, bot_username="")
    return replace(
        event,
        text=words.text,
        mentions_bot=words.mentioned,
        command=command,
        foreign_command=foreign,
        reply=_reply(message, around),
        forward=_forward(message),
        attachments=(
            *read_attachments(message, source=source),
            *(
                file
                for snapshot in _snapshots(message)
                for file in read_attachments(snapshot, source=source)
            ),
        ),
    )


def _reply(message: Fields, around: Surroundings) -> ReplyRef | None:
    reference = message.child("message_reference")
    if message.code("type") != _REPLY or reference is None or not reference.has("message_id"):
        return None
    answered = message.child("referenced_message")
    target = MessageId(reference.id("message_id"))
    if answered is None:
        return ReplyRef(target)
    author = read_author(answered)
    to_bot = author.id == str(around.account)
    return ReplyRef(target, to_bot=to_bot, author=author.name, text=readable(answered))


def _forward(message: Fields) -> Forward | None:
    """Discord does not tell whose words were forwarded."""
    reference = message.child("message_reference")
    if reference is None or reference.code("type") != _FORWARD:
        return None
    texts = map(readable, _snapshots(message))
    return Forward("\n".join(filter(None, texts)))


def _snapshots(message: Fields) -> list[Fields]:
    held = (each.child("message") for each in message.children("message_snapshots"))
    return [each for each in held if each is not None]


_READERS: dict[str, Callable[[Fields, Surroundings], InboundEvent | None]] = {
    "MESSAGE_CREATE": _created,
    "MESSAGE_UPDATE": _updated,
    "MESSAGE_DELETE": _deleted,
    "INTERACTION_CREATE": _interaction,
}
