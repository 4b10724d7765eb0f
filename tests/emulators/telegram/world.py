"""Everything the emulated Telegram knows: bots, users, chats with their messages, files."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from tests.emulators.telegram.errors import ApiError, bad_request
from tests.emulators.telegram.updates import UpdateQueue
from tests.emulators.telegram.webhooks import Webhook, Webhooks

Json = dict[str, Any]

#: supergroups and channels have ids below this
_SUPERGROUPS = -1_000_000_000_000
GENERAL_THREAD = 1

_REMOVED = {
    "private": "Forbidden: bot was blocked by the user",
    "group": "Forbidden: bot was kicked from the group chat",
    "supergroup": "Forbidden: bot was kicked from the supergroup chat",
}


@dataclass(slots=True)
class Bot:
    """One bot with its queue; ``commands`` by (scope, language)."""

    token: str
    user: Json
    updates: UpdateQueue
    commands: dict[tuple[str, str], list[Json]] = field(default_factory=dict)
    webhook: Webhook | None = None
    revoked: bool = False

    @property
    def id(self) -> int:
        """The digits in front of the token's colon."""
        return int(self.user["id"])


@dataclass(slots=True)
class Chat:
    """One chat. A private chat belongs to one bot, a group is the same for all of them."""

    facts: Json
    messages: dict[int, Json] = field(default_factory=dict)
    #: ids of the messages that created topics
    threads: set[int] = field(default_factory=set)
    #: bots that were blocked or kicked
    removed: set[int] = field(default_factory=set)
    moved_to: int | None = None
    #: 1 is the group's creation, and the id of General
    next_message: int = 2

    @property
    def id(self) -> int:
        return int(self.facts["id"])

    @property
    def type(self) -> str:
        return str(self.facts["type"])

    @property
    def private(self) -> bool:
        return self.type == "private"

    def store(self, message: Json) -> Json:
        """Keep a message under its id and return it."""
        self.messages[message["message_id"]] = message
        self.next_message = max(self.next_message, message["message_id"] + 1)
        return message


@dataclass(frozen=True, slots=True)
class StoredFile:
    """An uploaded file; ``facts`` are the fields that every kind of file has."""

    facts: Json
    content: bytes
    path: str
    name: str
    mime: str


class World:
    """The state behind one server."""

    def __init__(self) -> None:
        self.bots: dict[str, Bot] = {}
        self.users: dict[int, Json] = {}
        self.files: dict[str, StoredFile] = {}
        #: ids of button presses that may be answered
        self.callbacks: set[str] = set()
        self.webhooks = Webhooks()
        self._chats: dict[tuple[int, int], Chat] = {}

    def add_bot(self, token: str, username: str, name: str) -> Bot:
        """Register a bot; a known token is unrevoked and keeps its queue."""
        user: Json = {
            "id": int(token.split(":")[0]),
            "is_bot": True,
            "first_name": name,
            "username": username,
        }
        known = self.bots.get(token)
        queue = known.updates if known else UpdateQueue(100_001)
        self.bots[token] = Bot(token, user, queue, webhook=known.webhook if known else None)
        self.users[user["id"]] = user
        return self.bots[token]

    def user(self, user_id: int) -> Json:
        """Return a user, made up at the first mention."""
        made_up = {
            "id": user_id,
            "is_bot": False,
            "first_name": f"User {user_id}",
            "username": f"user_{user_id}",
            "language_code": "en",
        }
        return self.users.setdefault(user_id, made_up)

    def open_chat(self, bot: Bot, chat_id: int) -> Chat:
        """Return the chat, made up at the first mention."""
        key = (bot.id if chat_id > 0 else 0, chat_id)
        if key not in self._chats:
            self._chats[key] = Chat(self._made_up(chat_id), next_message=1 if chat_id > 0 else 2)
        return self._chats[key]

    def find_chat(self, bot: Bot, raw_id: str) -> Chat:
        """Return a chat as a method's ``chat_id`` names it, or raise what Telegram says."""
        if not raw_id:
            raise bad_request("chat_id is empty")
        chat_id = int(raw_id) if raw_id.removeprefix("-").isdigit() else 0
        chat = self._chats.get((bot.id if chat_id > 0 else 0, chat_id))
        if chat is None and chat_id in self.users:
            raise ApiError(403, "Forbidden: bot can't initiate conversation with a user")
        if chat is None:
            raise bad_request("chat not found")
        return chat

    def writable_chat(self, bot: Bot, raw_id: str) -> Chat:
        """Return a chat that the bot may write to, or raise why it may not."""
        chat = self.find_chat(bot, raw_id)
        if chat.moved_to is not None:
            raise ApiError(
                400,
                "Bad Request: group chat was upgraded to a supergroup chat",
                migrate_to_chat_id=chat.moved_to,
            )
        if bot.id in chat.removed:
            raise ApiError(403, _REMOVED[chat.type])
        return chat

    def compose(self, chat: Chat, sender: Json, content: Json) -> Json:
        """Store a new message of ``sender``; ``content`` may override any field."""
        message = {
            "message_id": chat.next_message,
            "from": sender,
            "chat": chat.facts,
            "date": int(time.time()),
            **content,
        }
        return chat.store(message)

    def announce(self, chat: Chat, body: Json, owner: Bot) -> list[int]:
        """Queue an update for each bot in the chat; return the ids that they got."""
        bots = [owner] if chat.private else list(self.bots.values())
        given = [bot.updates.put(body) for bot in bots if bot.id not in chat.removed]
        return [update_id for update_id in given if update_id is not None]

    def _made_up(self, chat_id: int) -> Json:
        if chat_id > 0:
            names = ("first_name", "last_name", "username")
            user = self.user(chat_id)
            known = {key: user[key] for key in names if key in user}
            return {"id": chat_id, **known, "type": "private"}
        kind = "supergroup" if chat_id < _SUPERGROUPS else "group"
        return {"id": chat_id, "title": f"Group {-chat_id}", "type": kind}
