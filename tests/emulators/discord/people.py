"""What people do on the emulated Discord, and what they find there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.emulators.discord.account import new_thread
from tests.emulators.discord.messages import mentioned, reply_fields, shown, store_file
from tests.emulators.discord.world import (
    CHANNEL,
    GUILD,
    TOKEN,
    USER,
    Interaction,
    role_object,
    stamp,
    user_object,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.emulators.discord.gateway import Gateway
    from tests.emulators.discord.world import Bot, Channel, World

Json = dict[str, Any]


class People:
    """Half of the emulator's control API. Ids are text.

    Without an explicit ``bot`` (a token) every call means the bot that was registered first;
    one with ``TOKEN`` is registered when there is none. Users, guilds and channels exist from
    their first mention; ``channel=None`` is the direct channel of ``user`` with the bot.
    """

    def __init__(self, world: World, gateway: Gateway, on_change: Callable[[], None]) -> None:
        self._world = world
        self._gateway = gateway
        self._on_change = on_change
        self._last: tuple[str, Json, str | None] | None = None

    # --- who is there ---

    def bot(self, token: str = TOKEN, *, name: str = "gate") -> Bot:
        """Register a bot; its id is in the token."""
        return self._world.add_bot(token, name)

    def user(self, user: str, **facts: Any) -> None:
        """Describe a user: ``username``, ``global_name``, ``bot`` …"""
        self._world.user(user).update(facts)

    def channel(self, channel: str = CHANNEL, *, guild: str = GUILD, **facts: Any) -> str:
        """Describe a guild's channel and return its id."""
        if channel not in self._world.channels:
            self._world.guild(guild)
            self._world.add_channel(channel, guild_id=guild)
        self._world.channels[channel].facts.update(facts)
        return channel

    def role(self, role: str, *, guild: str = GUILD, name: str = "role", bot: bool = False) -> str:
        """Add a role, or with ``bot`` the one that Discord manages for the first bot."""
        owner = self._bot(None).id if bot else None
        self._world.guild(guild)["roles"].append(role_object(role, name, owner))
        return role

    def grant(self, user: str, *roles: str, guild: str = GUILD) -> None:
        """Give a member these roles and no others."""
        self._world.roles[guild, user] = list(roles)

    def thread(self, name: str = "topic", *, parent: str = CHANNEL, user: str = USER) -> str:
        """Open a thread and return its id."""
        thread = new_thread(self._world, self._channel(parent, user, None), name, user)
        self._announce("THREAD_CREATE", thread, thread.facts | {"newly_created": True})
        return thread.id

    def dm(self, user: str = USER, *, bot: str | None = None) -> str:
        """Return the id of a user's direct channel with the bot."""
        return self._world.direct(self._bot(bot), user).id

    def file(self, name: str, content: bytes, *, channel: str = CHANNEL, **facts: Any) -> Json:
        """Store a file and return it for ``say(attachments=[…])``."""
        return store_file(self._world, channel, name, content) | facts

    def expire_files(self) -> None:
        """Let every address of a file that was given out so far expire."""
        self._world.signing_key += 1

    # --- what people do ---

    def say(
        self,
        text: str = "",
        *,
        user: str = USER,
        channel: str | None = None,
        reply_to: str | None = None,
        bot: str | None = None,
        **raw: Any,
    ) -> str:
        """Write as ``user`` and return the message id; ``raw`` overrides message fields.

        A reply pings the one it answers, as Discord's apps do unless told otherwise.
        """
        place = self._channel(channel, user, bot)
        fields: Json = {"content": text, **mentioned(self._world, text)}
        if reply_to is not None:
            target = place.messages[reply_to]
            fields |= reply_fields(place, target)
            fields["mentions"] = [*fields["mentions"], target["author"]]
        message = self._world.compose(place, self._world.user(user), fields | raw)
        self._announce("MESSAGE_CREATE", place, shown(self._world, place, message))
        return str(message["id"])

    def forward(
        self, message: str, *, source: str = CHANNEL, channel: str | None = None, user: str = USER
    ) -> str:
        """Forward a message of ``source`` and return the new one's id."""
        original = self._channel(source, user, None).messages[message]
        kept = "type content embeds attachments timestamp edited_timestamp flags mentions"
        snapshot = {key: original[key] for key in [*kept.split(), "mention_roles"]}
        reference = {"type": 1, "channel_id": source, "message_id": message}
        return self.say(
            user=user,
            channel=channel,
            message_reference=reference,
            message_snapshots=[{"message": snapshot}],
        )

    def webhook(
        self, text: str, *, channel: str = CHANNEL, hook: str = "666", name: str = "CI"
    ) -> str:
        """Write through a webhook under any name."""
        author = user_object(hook, name, bot=True) | {"discriminator": "0000"}
        return self._post(channel, author, {"content": text, "webhook_id": hook})

    def bot_say(self, text: str, *, user: str = "555", channel: str = CHANNEL) -> str:
        """Write as a bot that is not ours."""
        author = self._world.users.setdefault(user, user_object(user, "otherbot", bot=True))
        return self._post(channel, author, {"content": text, **mentioned(self._world, text)})

    def edit(
        self, message: str, text: str, *, channel: str | None = None, user: str = USER, **raw: Any
    ) -> None:
        """Change the text of a message."""
        place = self._channel(channel, user, None)
        held = place.messages[message]
        held.update(mentioned(self._world, text), content=text, edited_timestamp=stamp())
        held.update(raw)
        self._announce("MESSAGE_UPDATE", place, shown(self._world, place, held))

    def unfurl(self, message: str, *, channel: str | None = None, user: str = USER) -> None:
        """Add a link's preview to a message: an update that nobody made."""
        place = self._channel(channel, user, None)
        held = place.messages[message]
        held["embeds"] = [{"type": "link", "url": "https://example.org", "title": "Example"}]
        self._announce("MESSAGE_UPDATE", place, shown(self._world, place, held))

    def delete(self, message: str, *, channel: str | None = None, user: str = USER) -> None:
        """Delete a message for everybody."""
        place = self._channel(channel, user, None)
        del place.messages[message]
        facts = {"id": message, "channel_id": place.id}
        guild = {} if place.guild is None else {"guild_id": place.guild}
        self._announce("MESSAGE_DELETE", place, facts | guild)

    def press(
        self,
        name: str,
        *,
        channel: str | None = None,
        user: str = USER,
        options: Sequence[Json] = (),
    ) -> str:
        """Use an application command and return the interaction's id."""
        place = self._channel(channel, user, None)
        data = {"id": "1", "name": name, "type": 1, "options": list(options)}
        return self._interact(place, user, {"type": 2, "data": data})

    def click(self, label: str, *, channel: str | None = None, user: str = USER) -> str:
        """Press the newest button of that label and return the interaction's id."""
        place = self._channel(channel, user, None)
        for message in reversed(self.messages(channel, user=user)):
            for button in (each for row in message["components"] for each in row["components"]):
                if button["label"] == label:
                    data = {"component_type": 2, "custom_id": button["custom_id"], "id": 2}
                    pressed = {"type": 3, "data": data, "message": message}
                    return self._interact(place, user, pressed)
        raise AssertionError(f"no button {label}")

    def _interact(self, place: Channel, user: str, what: Json) -> str:
        held = Interaction(self._world.new_id(), f"itok{self._world.new_id()}")
        self._world.interactions[held.id] = held
        person: Json = {"user": self._world.user(user)}
        if place.guild is not None:
            member = self._world.member(place.guild, user) | person
            person = {"guild_id": place.guild, "member": member}
        event = {
            "version": 1,
            "id": held.id,
            "token": held.token,
            "application_id": self._bot(None).id,
            "channel_id": place.id,
            "channel": place.facts,
            **what,
            "locale": "en-US",
            "entitlements": [],
            "authorizing_integration_owners": {},
            "context": 0 if place.guild else 1,
            "attachment_size_limit": 10_485_760,
            **person,
        }
        self._announce("INTERACTION_CREATE", place, event)
        return held.id

    def dispatch(self, kind: str, data: Any, *, bot: str | None = None) -> None:
        """Send any event, however odd."""
        owner = None if bot is None else self._bot(bot).id
        self._gateway.announce(kind, data, owner=owner)
        self._on_change()

    def duplicate(self) -> None:
        """Deliver the newest event that ``People`` caused once more."""
        assert self._last is not None
        kind, data, owner = self._last
        self._gateway.announce(kind, data, owner=owner)

    def block(self, user: str = USER, *, bot: str | None = None) -> None:
        """The user stops taking direct messages of the bot."""
        self._world.direct(self._bot(bot), user).blocked = True

    def hide(self, channel: str = CHANNEL) -> None:
        """Take away the bots' access to a channel."""
        self._channel(channel, USER, None).hidden = True

    def revoke(self, token: str | None = None) -> None:
        """Make a token invalid, also for the sockets that are open."""
        bot = self._bot(token)
        bot.revoked = True
        self._gateway.revoke(bot)

    # --- what became of it ---

    def messages(self, channel: str | None = None, *, user: str = USER) -> list[Json]:
        """Return what the channel holds now, oldest first."""
        held = self._channel(channel, user, None).messages
        return [held[one] for one in sorted(held, key=int)]

    def answers(self, channel: str | None = None, *, user: str = USER) -> list[Json]:
        """Return what the bots wrote in the channel and nobody deleted."""
        own = {bot.id for bot in self._world.bots.values()}
        return [one for one in self.messages(channel, user=user) if one["author"]["id"] in own]

    def sent_files(
        self, channel: str | None = None, *, user: str = USER
    ) -> list[tuple[str, bytes]]:
        """Return (name, content) of the files that the bots sent to the channel."""
        answers = self.answers(channel, user=user)
        return [self._world.files[file["id"]] for one in answers for file in one["attachments"]]

    def interaction(self, interaction: str) -> Interaction:
        """Return what became of an interaction."""
        return self._world.interactions[interaction]

    # --- inside ---

    def _bot(self, token: str | None) -> Bot:
        if token is not None:
            return self._world.bots[token]
        return next(iter(self._world.bots.values()), None) or self.bot()

    def _channel(self, channel: str | None, user: str, bot: str | None) -> Channel:
        if channel is None:
            return self._world.direct(self._bot(bot), user)
        return self._world.channels[self.channel(channel) if channel == CHANNEL else channel]

    def _post(self, channel: str, author: Json, fields: Json) -> str:
        place = self._channel(channel, USER, None)
        message = self._world.compose(place, author, fields)
        self._announce("MESSAGE_CREATE", place, shown(self._world, place, message))
        return str(message["id"])

    def _announce(self, kind: str, place: Channel, data: Json) -> None:
        self._last = (kind, data, place.owner)
        self._gateway.announce(kind, data, owner=place.owner)
        self._on_change()
