"""Pure: a raw update of the Bot API becomes one InboundEvent, or a ParseError."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import TYPE_CHECKING

from adapters.telegram.fields import Fields
from adapters.telegram.manifest import TELEGRAM
from adapters.telegram.media import read_attachments
from adapters.telegram.people import (
    author_name,
    origin_name,
    person_name,
    read_place,
    read_sender,
    read_thread,
    read_user,
)
from adapters.telegram.words import read_words
from gateway.model.choice import read_data
from gateway.model.events import (
    EventKind,
    Forward,
    InboundEvent,
    PlaceKind,
    ReplyRef,
    Sender,
    SenderKind,
)
from gateway.model.ids import MessageId, PlaceId
from gateway.policy.commands import parse_command
from gateway.text.clean import clean
from gateway.text.fields import ParseError

if TYPE_CHECKING:
    from adapters.telegram.words import Me

#: in front of the id of a press, where other events have a message's
PRESS = "press:"

_MESSAGES = {
    "message": EventKind.MESSAGE,
    "channel_post": EventKind.MESSAGE,
    "edited_message": EventKind.EDIT,
    "edited_channel_post": EventKind.EDIT,
}

#: fields of a message that say nothing of its kind; what else it holds names a service message
_ENVELOPE = frozenset(
    {
        "message_id",
        "message_thread_id",
        "is_topic_message",
        "from",
        "sender_chat",
        "sender_boost_count",
        "sender_business_bot",
        "author_signature",
        "chat",
        "date",
        "edit_date",
        "reply_to_message",
        "has_protected_content",
        "reply_markup",
    }
)


def parse(update: object, *, me: Me) -> InboundEvent:
    """Return the one event of an update.

    Whatever is no message (joins, pins, reactions, buttons) becomes a SERVICE event with its
    type in ``detail``. ``me.username`` must be known, or mentions would be missed. Raises
    ``ParseError``, which quotes no value of the update.
    """
    fields = Fields.of(update, "update")
    for name, kind in _MESSAGES.items():
        if (message := fields.child(name)) is not None:
            return _message(message, kind, me)
    if (change := fields.child("my_chat_member")) is not None:
        return _membership(fields, change, me)
    if (query := fields.child("callback_query")) is not None:
        return _press(fields, query, me)
    return _other(fields, me)


def _message(message: Fields, kind: EventKind, me: Me) -> InboundEvent:
    event = _bare(message, MessageId(message.id("message_id")), kind, me)
    if message.has("migrate_to_chat_id") or message.has("migrate_from_chat_id"):
        return _moved(event, message)
    event = _said(event, message, me)
    if kind is EventKind.EDIT:
        return replace(event, revision=_revision(message))
    if event.text or event.mentions_bot or event.forward or event.attachments or _speaks(message):
        return event
    return replace(event, kind=EventKind.SERVICE, detail=_service_type(message))


def _bare(holder: Fields, message: MessageId, kind: EventKind, me: Me) -> InboundEvent:
    chat = holder.child("chat")
    if chat is None:
        raise ParseError(f"{holder.path}.chat: missing")
    return InboundEvent(
        kind=kind,
        platform=TELEGRAM,
        account=me.account,
        place=read_place(chat, read_thread(holder)),
        message=message,
        sender=read_sender(holder),
        sent_at=holder.moment("date"),
    )


def _said(event: InboundEvent, message: Fields, me: Me) -> InboundEvent:
    words = read_words(message, me)
    event = replace(
        event,
        reply=_reply(message, me),
        attachments=read_attachments(message),
        album=message.name("media_group_id") or None,
    )
    author = _foreign_author(message)
    if author is not None:
        return replace(event, forward=Forward(clean(words.text), author))
    text = clean(words.text)
    command, foreign = parse_command(text, bot_username=me.username)
    return replace(
        event,
        text=text,
        mentions_bot=words.mentioned,
        command=command,
        foreign_command=foreign,
    )


def _foreign_author(message: Fields) -> str | None:
    """Return whose words these are if not the sender's: a forward, or an inline bot's result.

    ``forward_date`` alone is the form of Bot API servers before 7.0.
    """
    if (origin := message.child("forward_origin")) is not None:
        return origin_name(origin)
    if (bot := message.child("via_bot")) is not None:
        return person_name(bot)
    return "" if message.has("forward_date") else None


def _reply(message: Fields, me: Me) -> ReplyRef | None:
    quote = message.child("quote")
    marked = "" if quote is None else clean(quote.text("text"))
    if (external := message.child("external_reply")) is not None:
        return _external_reply(external, marked)
    answered = message.child("reply_to_message")
    if answered is None or _is_topic_root(answered, message):
        return None
    sender = answered.child("from")
    return ReplyRef(
        MessageId(answered.id("message_id")),
        to_bot=sender is not None and sender.id() == me.account,
        author=author_name(answered),
        text=clean(answered.text("text") or answered.text("caption")),
        quote=marked,
    )


def _is_topic_root(answered: Fields, message: Fields) -> bool:
    """Every message in a topic "answers" the one that created the topic; that is no reply."""
    if answered.has("forum_topic_created"):
        return True
    root = message.number("message_thread_id")
    return message.flag("is_topic_message") and answered.number("message_id") == root


def _external_reply(external: Fields, marked: str) -> ReplyRef:
    """A reply across chats: the id is of another chat and must never be looked up in this one."""
    origin, chat = external.child("origin"), external.child("chat")
    place = "" if chat is None else chat.id()
    number = external.number("message_id")
    return ReplyRef(
        MessageId(f"external:{place}:{'' if number is None else number}"),
        author="" if origin is None else origin_name(origin),
        quote=marked,
    )


def _moved(event: InboundEvent, message: Fields) -> InboundEvent:
    """Both notices become old → new.

    The one from the new group is numbered there, so it takes a revision: without it the number
    would be that of some message of the old group.
    """
    if message.has("migrate_to_chat_id"):
        target = PlaceId(message.id("migrate_to_chat_id"))
        return replace(event, kind=EventKind.MOVED, moved_to=target)
    old = PlaceId(message.id("migrate_from_chat_id"))
    return replace(
        event,
        kind=EventKind.MOVED,
        place=replace(event.place, id=old),
        moved_to=event.place.id,
        revision="migrated",
    )


def _revision(message: Fields) -> str:
    """Name an edit: distinct within one second, and the same when it is delivered again."""
    canonical = json.dumps(message.values, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(canonical.encode("ascii")).hexdigest()[:8]
    return f"{message.number('edit_date') or 0}-{digest}"


def _speaks(message: Fields) -> bool:
    return message.has("text") or message.has("caption")


def _service_type(message: Fields) -> str:
    return next((key for key in sorted(message.values) if key not in _ENVELOPE), "empty")


def _membership(update: Fields, change: Fields, me: Me) -> InboundEvent:
    """The bot was added, removed or blocked; only a private chat makes a person unreachable."""
    event = _bare(change, _numbered(update), EventKind.SERVICE, me)
    member = change.child("new_chat_member")
    status = "" if member is None else member.name("status")
    gone = status in ("kicked", "left") and event.place.kind is PlaceKind.DIRECT
    kind = EventKind.UNREACHABLE if gone else EventKind.SERVICE
    return replace(event, kind=kind, detail=f"my_chat_member:{status}")


def _press(update: Fields, query: Fields, me: Me) -> InboundEvent:
    """A button under one of our messages; one of another program's, or of a game, is nothing.

    Telegram does not tell when it was pressed: the time is its message's.
    """
    message = query.child("message")
    pressed = None
    if message is not None:
        pressed = read_data(query.text("data"), MessageId(message.id("message_id")))
    if message is None or pressed is None:
        return _other(update, me)
    event = _bare(message, MessageId(f"{PRESS}{query.text('id')}"), EventKind.PRESS, me)
    return replace(event, sender=_actor(query), pressed=pressed)


def _other(update: Fields, me: Me) -> InboundEvent:
    name = next((key for key in sorted(update.values) if key != "update_id"), "")
    payload = update.child(name)
    if payload is None:
        raise ParseError("update: holds nothing but its number")
    holder = payload if payload.has("chat") else payload.child("message")
    if holder is None:
        raise ParseError(f"{payload.path}: an update of no chat")
    event = _bare(holder, _numbered(update), EventKind.SERVICE, me)
    return replace(event, sender=_actor(payload), detail=name)


def _actor(payload: Fields) -> Sender:
    user = payload.child("from") or payload.child("user")
    return Sender(SenderKind.UNKNOWN) if user is None else read_user(user)


def _numbered(update: Fields) -> MessageId:
    """Return an id for an event that is no message, apart from every message's number."""
    return MessageId(f"update:{update.id('update_id')}")
