"""Who speaks and where: senders and places of Discord events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.model.events import Place, PlaceKind, Sender, SenderKind
from gateway.model.ids import PlaceId, UserId

if TYPE_CHECKING:
    from adapters.discord.directory import Channel
    from adapters.discord.fields import Fields

#: where an interaction came from: a conversation that the bot is not part of
_OF_OTHERS = 2


def read_place(event: Fields, channel: Channel | None) -> Place:
    """Return the place; a thread is one of its own, with its channel as ``parent``.

    A thread that nobody could tell about has no parent, so that no list covers it. Only a
    channel of the bot's own is somebody's direct message with it: not a guild's channel, whatever
    the event leaves out, and not one of other people in which a command of the bot was used.
    """
    place = PlaceId(event.id("channel_id"))
    of_others = event.code("context") == _OF_OTHERS
    if channel is None and not event.has("guild_id") and not of_others:
        return Place(PlaceKind.DIRECT, place)
    if channel is None:
        return Place(PlaceKind.GROUP, place)
    parent = None if channel.parent is None else PlaceId(channel.parent)
    return Place(PlaceKind.GROUP, place, parent=parent, title=channel.name)


def read_author(message: Fields) -> Sender:
    """Return who wrote a message. A webhook shows any name under one id and is no person."""
    author = message.child("author")
    if author is None:
        return Sender(SenderKind.UNKNOWN)
    if (webhook := message.id_or_none("webhook_id")) is not None:
        return Sender(SenderKind.WEBHOOK, UserId(webhook), name=author.name("username"))
    return read_user(author, message.child("member"))


def read_user(user: Fields, member: Fields | None) -> Sender:
    """Return an account. Its username is for display only: handles change hands."""
    kind = SenderKind.PERSON
    if user.flag("system"):
        kind = SenderKind.SERVICE
    elif user.flag("bot"):
        kind = SenderKind.BOT
    nick = "" if member is None else member.name("nick")
    roles = () if member is None else member.ids("roles")
    return Sender(kind, UserId(user.id()), name=nick or display_name(user), roles=roles)


def display_name(user: Fields) -> str:
    """Return the name that Discord shows for an account outside any guild."""
    return user.name("global_name") or user.name("username")
