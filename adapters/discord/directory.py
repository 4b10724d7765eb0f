"""What the gateway has told about guilds: which channel lies where, and the bot's own roles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adapters.discord.fields import Fields

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gateway.model.ids import AccountId

#: announcement thread, public thread, private thread
_THREADS = frozenset({10, 11, 12})


@dataclass(frozen=True, slots=True)
class Channel:
    """One channel or thread of a guild. ``parent`` is set for threads only, never a category."""

    id: str
    guild: str
    name: str = ""
    parent: str | None = None
    #: id of its newest message when this was told
    last_message: str | None = None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """All that parsing one event needs to know beside the event."""

    account: AccountId
    #: the channel it happened in, None for direct messages and for what nobody could tell
    channel: Channel | None = None
    #: roles that stand for the bot: naming one of them names the bot
    own_roles: frozenset[str] = frozenset()


class Directory:
    """Filled from events in their order; forgets nothing while the process lives."""

    def __init__(self, account: AccountId) -> None:
        self._account = account
        self._channels: dict[str, Channel] = {}
        self._own_roles: dict[str, str] = {}

    def around(self, channel: str | None) -> Surroundings:
        """Return what is known for an event in ``channel``."""
        found = None if channel is None else self._channels.get(channel)
        return Surroundings(self._account, found, frozenset(self._own_roles))

    def find(self, channel: str) -> Channel | None:
        """Return a channel that was told, None otherwise."""
        return self._channels.get(channel)

    def learn(self, kind: str, data: object) -> list[Channel]:
        """Take in an event about guilds, channels, threads or roles; return what it told.

        Raises ``ParseError`` and then has learnt nothing.
        """
        match kind:
            case "GUILD_CREATE":
                return self._guild(Fields.of(data, kind))
            case "CHANNEL_CREATE" | "CHANNEL_UPDATE" | "THREAD_CREATE" | "THREAD_UPDATE":
                fields = Fields.of(data, kind)
                return self.add([read_channel(fields)]) if fields.has("guild_id") else []
            case "THREAD_LIST_SYNC":
                fields = Fields.of(data, kind)
                return self.add(list(_channels(fields, "threads", fields.id("guild_id"))))
            case "GUILD_ROLE_CREATE" | "GUILD_ROLE_UPDATE":
                fields = Fields.of(data, kind)
                role = fields.child("role")
                self._roles(fields.id("guild_id"), () if role is None else (role,))
        return []

    def add(self, channels: list[Channel]) -> list[Channel]:
        """Remember channels."""
        self._channels |= {channel.id: channel for channel in channels}
        return channels

    def _guild(self, fields: Fields) -> list[Channel]:
        guild = fields.id()
        if fields.flag("unavailable"):
            return []
        found = [*_channels(fields, "channels", guild), *_channels(fields, "threads", guild)]
        self._roles(guild, fields.children("roles"))
        return self.add(found)

    def _roles(self, guild: str, roles: tuple[Fields, ...]) -> None:
        for role in roles:
            tags = role.child("tags")
            if tags is not None and tags.id_or_none("bot_id") == self._account:
                self._own_roles[role.id()] = guild


def _channels(fields: Fields, key: str, guild: str) -> Iterator[Channel]:
    return (read_channel(each, guild) for each in fields.children(key))


def read_channel(fields: Fields, guild: str | None = None) -> Channel:
    """Return a channel object of a guild. Raises ``ParseError``."""
    thread = fields.code("type") in _THREADS
    return Channel(
        fields.id(),
        guild or fields.id("guild_id"),
        fields.name("name"),
        fields.id("parent_id") if thread else None,
        fields.id_or_none("last_message_id"),
    )
