"""Everything the emulated Discord knows: bots, users, guilds, channels with their messages."""

from __future__ import annotations

import base64
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from tests.emulators.discord import errors
from tests.emulators.discord.errors import ApiError

if TYPE_CHECKING:
    from collections.abc import Iterable

Json = dict[str, Any]

USER = "42"
GUILD = "900"
CHANNEL = "901"

_EPOCH_MS = 1_420_070_400_000
TEXT, DM = 0, 1
THREADS = frozenset({10, 11, 12})


def make_token(bot: str, secret: str = "invented.Token_For_Tests_0123456789") -> str:
    """Return a token in Discord's form: the bot's id in base64, a stamp, a signature."""
    return f"{base64.urlsafe_b64encode(bot.encode()).decode().rstrip('=')}.{secret}"


TOKEN = make_token("111")


@dataclass(slots=True)
class Bot:
    """One bot, which is a member of every guild; ``commands`` are its global ones."""

    token: str
    user: Json
    commands: list[Json] = field(default_factory=list)
    revoked: bool = False
    #: privileged intents are switched off in the developer portal
    intents_denied: bool = False
    #: IDENTIFYs left today, as ``/gateway/bot`` tells
    identifies_left: int = 1000

    @property
    def id(self) -> str:
        return str(self.user["id"])


@dataclass(slots=True)
class Channel:
    """A guild's channel or thread, or the direct messages of one user with one bot."""

    facts: Json
    messages: dict[str, Json] = field(default_factory=dict)
    #: (author, nonce) → message id
    nonces: dict[tuple[str, str], str] = field(default_factory=dict)
    #: the other side does not take direct messages any more
    blocked: bool = False
    #: bots may not look in here
    hidden: bool = False
    #: the one bot that a direct channel belongs to
    owner: str | None = None

    @property
    def id(self) -> str:
        return str(self.facts["id"])

    @property
    def guild(self) -> str | None:
        return self.facts.get("guild_id")

    @property
    def is_thread(self) -> bool:
        return self.facts["type"] in THREADS

    def store(self, message: Json) -> Json:
        """Keep a message under its id and return it."""
        self.messages[message["id"]] = message
        self.facts["last_message_id"] = message["id"]
        return message


@dataclass(slots=True)
class Interaction:
    """A command or button that was pressed, until its token expires."""

    id: str
    token: str
    answer: Json | None = None
    deleted: bool = False


class World:
    """The state behind one server."""

    def __init__(self, address: str) -> None:
        #: where the REST API and the attachments are
        self.address = address
        self.bots: dict[str, Bot] = {}
        self.users: dict[str, Json] = {}
        self.guilds: dict[str, Json] = {}
        self.channels: dict[str, Channel] = {}
        #: (guild, user) → role ids
        self.roles: dict[tuple[str, str], list[str]] = {}
        #: attachment id → (name, content)
        self.files: dict[str, tuple[str, bytes]] = {}
        #: addresses of files that were signed with an earlier one have expired
        self.signing_key = 0
        self.interactions: dict[str, Interaction] = {}
        self._last_id = 0

    def new_id(self) -> str:
        """Return a snowflake of this moment, larger than all before."""
        now = (int(time.time() * 1000) - _EPOCH_MS) << 22
        self._last_id = max(now, self._last_id + 1)
        return str(self._last_id)

    def add_bot(self, token: str, name: str) -> Bot:
        """Register a bot; a known token is unrevoked."""
        head = token.split(".")[0]
        identity = base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)).decode()
        user = user_object(identity, name, bot=True) | {"flags": 0, "verified": True}
        self.bots[token] = Bot(token, user)
        self.users[identity] = user
        return self.bots[token]

    def bot_of(self, identity: str) -> Bot:
        """Return the bot with this user id."""
        return next(bot for bot in self.bots.values() if bot.id == identity)

    def user(self, identity: str) -> Json:
        """Return a user, made up at the first mention."""
        return self.users.setdefault(identity, user_object(identity, f"user{identity}"))

    def guild(self, identity: str) -> Json:
        """Return a guild, made up at the first mention."""
        made_up = {
            "id": identity,
            "name": f"Guild {identity}",
            "roles": [_role(identity, "@everyone")],
        }
        return self.guilds.setdefault(identity, made_up)

    def add_channel(self, identity: str, **facts: Any) -> Channel:
        """Register a channel."""
        self.channels[identity] = Channel(channel_object(identity, **facts))
        return self.channels[identity]

    def direct(self, bot: Bot, user: str) -> Channel:
        """Return the direct messages of a user with a bot, opened at the first mention."""
        for channel in self.channels.values():
            recipients = channel.facts.get("recipients", ())
            if channel.owner == bot.id and [one["id"] for one in recipients] == [user]:
                return channel
        facts = {"type": DM, "recipients": [self.user(user)]}
        channel = self.add_channel(self.new_id(), **facts)
        channel.owner = bot.id
        return channel

    def visible(self, bot: Bot, identity: str) -> Channel:
        """Return a channel that ``bot`` may look into, or raise what Discord says."""
        channel = self.channels.get(identity)
        if channel is None or channel.owner not in (None, bot.id):
            raise ApiError(*errors.UNKNOWN_CHANNEL)
        if channel.hidden:
            raise ApiError(*errors.MISSING_ACCESS)
        return channel

    def member(self, guild: str, user: str) -> Json:
        """Return the member object without its user, as messages carry it."""
        return {
            "roles": list(self.roles.get((guild, user), ())),
            "joined_at": "2023-11-14T22:13:20+00:00",
            "deaf": False,
            "mute": False,
            "flags": 0,
            "nick": None,
            "avatar": None,
            "pending": False,
        }

    def guild_object(self, identity: str) -> Json:
        """Return a GUILD_CREATE's data."""
        held = [one for one in self.channels.values() if one.guild == identity and not one.hidden]
        return {
            **self.guild(identity),
            "owner_id": USER,
            "member_count": 3,
            "large": False,
            "unavailable": False,
            "members": [],
            "presences": [],
            "emojis": [],
            "stickers": [],
            "voice_states": [],
            "stage_instances": [],
            "guild_scheduled_events": [],
            "features": [],
            "channels": [dict(one.facts) for one in held if not one.is_thread],
            "threads": [dict(one.facts) for one in held if one.is_thread],
        }

    def compose(self, channel: Channel, author: Json, content: Json) -> Json:
        """Store a new message; ``content`` may override any field."""
        fresh: Json = {
            "id": self.new_id(),
            "channel_id": channel.id,
            "author": author,
            "content": "",
            "timestamp": stamp(),
            "edited_timestamp": None,
            "tts": False,
            "mention_everyone": False,
            "mentions": [],
            "mention_roles": [],
            "attachments": [],
            "embeds": [],
            "pinned": False,
            "type": 0,
            "flags": 0,
            "components": [],
        }
        return channel.store(fresh | content)


def stamp() -> str:
    """Return this moment as Discord writes it."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def user_object(identity: str, name: str, *, bot: bool = False) -> Json:
    """Return a user as messages carry it."""
    user: Json = {
        "id": identity,
        "username": name,
        "discriminator": "0",
        "avatar": None,
        "global_name": None if bot else name.title(),
        "public_flags": 0,
    }
    return user | ({"bot": True} if bot else {})


def channel_object(identity: str, **facts: Any) -> Json:
    """Return a channel with the fields that clients need."""
    return {
        "id": identity,
        "type": TEXT,
        "name": f"channel-{identity}",
        "position": 0,
        "permission_overwrites": [],
        "nsfw": False,
        "parent_id": None,
        "topic": None,
        "rate_limit_per_user": 0,
        "last_message_id": None,
        **facts,
    }


def _role(identity: str, name: str, **tags: str) -> Json:
    return {
        "id": identity,
        "name": name,
        "color": 0,
        "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None},
        "hoist": False,
        "position": 0,
        "permissions": "0",
        "managed": bool(tags),
        "mentionable": True,
        "flags": 0,
        **({"tags": tags} if tags else {}),
    }


def role_object(identity: str, name: str, bot: str | None = None) -> Json:
    """Return a role; with ``bot`` the one that Discord manages for it."""
    return _role(identity, name) if bot is None else _role(identity, name, bot_id=bot)


def newest(messages: Iterable[Json]) -> list[Json]:
    """Return messages in Discord's order, newest first."""
    return sorted(messages, key=lambda message: int(message["id"]), reverse=True)
