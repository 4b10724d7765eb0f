"""Who speaks and where: senders, places and topics of Telegram updates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.telegram.manifest import SERVICE_ACCOUNTS
from gateway.model.events import Place, PlaceKind, Sender, SenderKind
from gateway.model.ids import PlaceId, ThreadId, UserId
from gateway.text.fields import ParseError

if TYPE_CHECKING:
    from adapters.telegram.fields import Fields

#: Telegram refuses a send that names the General topic: it has no thread
GENERAL_TOPIC = "1"

_PLACES = {
    "private": PlaceKind.DIRECT,
    "group": PlaceKind.GROUP,
    "supergroup": PlaceKind.GROUP,
    "channel": PlaceKind.CHANNEL,
}


def read_place(chat: Fields, thread: ThreadId | None = None) -> Place:
    """Return the chat as a place; ``ParseError`` for a kind of chat nobody knows."""
    kind = _PLACES.get(chat.text("type"))
    if kind is None:
        raise ParseError(f"{chat.path}.type: not a kind of chat that is known")
    return Place(kind, PlaceId(chat.id()), thread, title=chat.name("title"))


def read_thread(message: Fields) -> ThreadId | None:
    """Return the topic. A thread number alone is a reply chain, and General is no thread."""
    if not message.flag("is_topic_message"):
        return None
    number = message.number("message_thread_id")
    thread = "" if number is None else str(number)
    return None if thread in ("", GENERAL_TOPIC) else ThreadId(thread)


def read_sender(message: Fields) -> Sender:
    """Return who spoke; nobody is guessed where Telegram names no account."""
    user, channel = message.child("from"), message.child("sender_chat")
    if channel is not None:
        return Sender(SenderKind.SERVICE, UserId(channel.id()), name=chat_name(channel))
    return Sender(SenderKind.UNKNOWN) if user is None else read_user(user)


def read_user(user: Fields) -> Sender:
    """Return an account. Its username is left out: handles change hands."""
    identity = UserId(user.id())
    if identity in SERVICE_ACCOUNTS:
        kind = SenderKind.SERVICE
    else:
        kind = SenderKind.BOT if user.flag("is_bot") else SenderKind.PERSON
    language = user.name("language_code") or None
    return Sender(kind, identity, name=person_name(user), language=language)


def person_name(user: Fields) -> str:
    """Return first and last name, for display only."""
    return f"{user.name('first_name')} {user.name('last_name')}".strip()


def chat_name(chat: Fields) -> str:
    """Return the title of a group or channel, or a private chat's name."""
    return chat.name("title") or person_name(chat)


def author_name(message: Fields) -> str:
    """Return the display name of a message's sender, "" where there is none."""
    return read_sender(message).name


def origin_name(origin: Fields) -> str:
    """Return the display name in a forward's or an external reply's origin."""
    if (user := origin.child("sender_user")) is not None:
        return person_name(user)
    chat = origin.child("sender_chat") or origin.child("chat")
    return origin.name("sender_user_name") if chat is None else chat_name(chat)
