"""Inbound events: what an adapter's ``parse`` makes of a platform's raw update.

Everything is frozen and typed. ``InboundEvent.text`` holds the speaker's own words only: mention
markup of the bot is removed once by its entity, quoted and forwarded words stand in ``reply``
and ``forward``. Ids are exact text.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from gateway.model.choice import Pressed
from gateway.model.ids import (
    AccountId,
    MessageId,
    PlaceId,
    PlatformName,
    ScopeId,
    ThreadId,
    UserId,
)


class EventKind(StrEnum):
    """What happened."""

    MESSAGE = "message"
    #: a message was changed; recorded, never answered again
    EDIT = "edit"
    #: a group got a new id (``InboundEvent.moved_to`` names it)
    MOVED = "moved"
    #: the person can no longer be written to (blocked the bot, removed it)
    UNREACHABLE = "unreachable"
    #: a button of ours was pressed (``InboundEvent.pressed`` says which)
    PRESS = "press"
    #: joins, pins, reactions and the like: kept for de-duplication, nothing else
    SERVICE = "service"


class SenderKind(StrEnum):
    """Who speaks. Only ``PERSON`` can own a peer without an alias."""

    PERSON = "person"
    BOT = "bot"
    WEBHOOK = "webhook"
    #: anonymous admins, linked channels, the platform's own accounts
    SERVICE = "service"
    #: the platform gave no readable sender
    UNKNOWN = "unknown"
    #: a channel that has no users at all (the console)
    OPERATOR = "operator"


class PlaceKind(StrEnum):
    """What kind of place a message was said in."""

    DIRECT = "direct"
    GROUP = "group"
    CHANNEL = "channel"


@dataclass(frozen=True, slots=True)
class Sender:
    """The account that spoke. ``name`` is for display and never identity."""

    kind: SenderKind
    id: UserId | None = None
    scope: ScopeId | None = None
    #: further ids of the same account, tried for aliases after ``id``
    alternatives: tuple[UserId, ...] = ()
    name: str = ""
    #: the language the person's app is set to (``en``, ``pt-br``), where the platform tells
    language: str | None = None
    roles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """Where a message was said. ``id`` names the chat; ``thread`` a topic or thread in it."""

    kind: PlaceKind
    id: PlaceId
    thread: ThreadId | None = None
    #: the channel a thread belongs to, where the platform gives threads ids of their own
    parent: PlaceId | None = None
    title: str = ""


class AttachmentKind(StrEnum):
    """What a file is to the person who sent it."""

    IMAGE = "image"
    VOICE = "voice"
    AUDIO = "audio"
    VIDEO = "video"
    DOCUMENT = "document"
    STICKER = "sticker"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file as the platform announced it; nothing is downloaded yet."""

    kind: AttachmentKind
    #: opaque handle by which the adapter fetches the file
    ref: str
    #: the sender's own file name: a label, never a path
    name: str = ""
    mime: str = ""
    #: bytes, where the platform says so
    size: int | None = None


@dataclass(frozen=True, slots=True)
class ReplyRef:
    """The message that this one answers. Its text is somebody's words, not the speaker's."""

    message: MessageId
    to_bot: bool = False
    author: str = ""
    text: str = ""
    #: the part of ``text`` that the speaker marked, where the platform tells
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Forward:
    """Forwarded words: data for the agent, never the speaker's own."""

    text: str
    author: str = ""


@dataclass(frozen=True, slots=True)
class Command:
    """A slash command, recognised by its place at the start of the text."""

    #: lower case, without slash
    name: str
    args: str = ""


@dataclass(frozen=True, slots=True)
class InboundEvent:
    """One normalised event. ``dedupe_key`` identifies it over redelivery and restarts."""

    kind: EventKind
    platform: PlatformName
    account: AccountId
    place: Place
    message: MessageId
    sender: Sender
    #: aware UTC, the platform's own time
    sent_at: datetime
    text: str = ""
    #: "" for the original; for an edit its time or number, so that each edit is one event
    revision: str = ""
    #: the bot was mentioned by an entity (not merely named in the text)
    mentions_bot: bool = False
    command: Command | None = None
    pressed: Pressed | None = None
    #: a command that names another bot: never ours
    foreign_command: bool = False
    reply: ReplyRef | None = None
    forward: Forward | None = None
    attachments: tuple[Attachment, ...] = ()
    #: messages of one album share it
    album: str | None = None
    moved_to: PlaceId | None = None
    #: joined lines of one piped input are never joined to each other
    joinable: bool = True
    #: free text about a SERVICE event for the trace (its type name); never message text
    detail: str = field(default="", compare=False)

    @property
    def dedupe_key(self) -> str:
        """Key of (platform, account, place, message, revision); no two tuples share one."""
        return json.dumps(
            [self.platform, self.account, self.place.id, self.message, self.revision],
            ensure_ascii=True,
            separators=(",", ":"),
        )
