"""Pure: a payload of the Events API becomes one InboundEvent, none, or a ParseError."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from adapters.slack.fields import Fields, moment
from adapters.slack.files import read_attachments
from adapters.slack.manifest import SLACK
from adapters.slack.people import read_place, read_sender
from adapters.slack.words import read_words, readable
from gateway.model.events import (
    EventKind,
    Forward,
    InboundEvent,
    PlaceKind,
    ReplyRef,
    Sender,
    SenderKind,
)
from gateway.model.ids import MessageId, UserId
from gateway.policy.commands import parse_command
from gateway.text.clean import clean

if TYPE_CHECKING:
    from adapters.slack.people import View

#: subtypes of what somebody says; every other one is a notice of Slack's
_SPOKEN = frozenset({"", "file_share", "thread_broadcast", "me_message", "bot_message"})


def parse(payload: object, view: View) -> InboundEvent | None:
    """Return the one event of a payload, None for what happens in no conversation.

    ``message`` and ``app_mention`` of one text give events of the same key that are equal in
    everything that counts, so that either may come first or alone. Whatever is no message
    (joins, pins, reactions, link previews, deletions) becomes a SERVICE event with its type in
    ``detail``. Raises ``ParseError``, which quotes no value of the payload.
    """
    fields = Fields.of(payload, "payload")
    event = fields.child("event")
    if event is None:
        event = Fields.of(None, "payload.event")
    if event.required("type") not in ("message", "app_mention"):
        return _other(fields, event, view)
    match event.text("subtype"):
        case "message_changed":
            return _changed(fields, event, view)
        case "message_deleted":
            return _deleted(fields, event, view)
        case subtype if event.child("message") is not None:
            return _notice(fields, event, subtype or "message_replied", view)
        case subtype if subtype in _SPOKEN:
            return _said(fields, event, event, view)
        case subtype:
            bare = _bare(fields, event, event, view)
            return replace(bare, kind=EventKind.SERVICE, detail=subtype)


def _bare(payload: Fields, event: Fields, message: Fields, view: View) -> InboundEvent:
    ts = message.ts("ts")
    channel, thread = event.required("channel"), message.text("thread_ts")
    return InboundEvent(
        kind=EventKind.MESSAGE,
        platform=SLACK,
        account=view.me.account,
        place=read_place(channel, thread, ts, threads=view.threads),
        message=MessageId(ts),
        sender=read_sender(message, payload, view),
        sent_at=moment(ts),
    )


def _said(payload: Fields, event: Fields, message: Fields, view: View) -> InboundEvent:
    """Return what was said; ``event`` names the channel, ``message`` holds the words."""
    bare = _bare(payload, event, message, view)
    words = read_words(message.text("text"), view.me.user, name_of=view.name_of)
    command, _ = parse_command(words.text, bot_username="")
    return replace(
        bare,
        text=words.text,
        mentions_bot=words.mentioned or event.text("type") == "app_mention",
        command=command,
        reply=_reply(bare, message, view),
        forward=_forward(message),
        attachments=read_attachments(message),
    )


def _reply(event: InboundEvent, message: Fields, view: View) -> ReplyRef | None:
    """A message in a thread that the bot began speaks to the bot, without quoting anything."""
    thread = message.text("thread_ts")
    if event.place.kind is PlaceKind.DIRECT or thread in ("", event.message):
        return None
    if message.text("parent_user_id") != view.me.user:
        return None
    return ReplyRef(MessageId(thread), to_bot=True)


def _forward(message: Fields) -> Forward | None:
    """Return the message that was shared into this one."""
    for shared in message.children("attachments"):
        if shared.values.get("is_share") is True:
            words = shared.text("text") or shared.text("fallback")
            return Forward(clean(readable(words)), shared.name("author_name"))
    return None


def _changed(payload: Fields, event: Fields, view: View) -> InboundEvent:
    """Only a change of the words is an edit; the inner ts is the message's, whoever changed it."""
    message = event.child("message")
    if message is None:
        message = Fields.of(None, f"{event.path}.message")
    edited, previous = message.child("edited"), event.child("previous_message")
    same = previous is not None and previous.text("text") == message.text("text")
    if edited is None or same or message.text("subtype") not in _SPOKEN:
        bare = _bare(payload, event, message, view)
        revision = f"changed:{event.ts('ts')}"
        return replace(bare, kind=EventKind.SERVICE, revision=revision, detail="message_changed")
    said = _said(payload, event, message, view)
    return replace(said, kind=EventKind.EDIT, revision=edited.ts("ts"))


def _deleted(payload: Fields, event: Fields, view: View) -> InboundEvent:
    ts = event.ts("deleted_ts")
    message = event.child("previous_message") or Fields({}, event.path)
    gone = Fields({**message.values, "ts": ts}, message.path)
    return replace(
        _bare(payload, event, gone, view),
        kind=EventKind.SERVICE,
        revision="deleted",
        detail="message_deleted",
    )


def _notice(payload: Fields, event: Fields, subtype: str, view: View) -> InboundEvent:
    """What tells of another message is none: its ts may be that message's, or a reply's.

    ``message_replied`` is one, which may come without its subtype.
    """
    bare = _bare(payload, event, event, view)
    return replace(bare, kind=EventKind.SERVICE, revision=subtype, detail=subtype)


def _other(payload: Fields, event: Fields, view: View) -> InboundEvent | None:
    holder = _holder(event)
    if holder is None:
        return None
    happened = event.ts("event_ts")
    channel = holder.text("channel") or holder.required("channel_id")
    user = event.text("user") or holder.text("user_id")
    own = user == view.me.user
    sender = Sender(SenderKind.UNKNOWN)
    if user:
        kind = SenderKind.BOT if own else SenderKind.PERSON
        sender = Sender(kind, UserId(view.me.account if own else user), view.me.team)
    return InboundEvent(
        kind=EventKind.SERVICE,
        platform=SLACK,
        account=view.me.account,
        place=read_place(channel, holder.text("thread_ts"), "", threads=False),
        message=MessageId(f"event:{payload.text('event_id') or happened}"),
        sender=sender,
        sent_at=moment(happened),
        detail=event.text("type"),
    )


def _holder(event: Fields) -> Fields | None:
    """Return the object that names the conversation of an event which is no message."""
    if isinstance(event.values.get("channel"), str):
        return event
    for key in ("item", "assistant_thread"):
        held = event.values.get(key)
        if isinstance(held, dict) and (held.get("channel") or held.get("channel_id")):
            return Fields.of(held, f"{event.path}.{key}")
    return None
