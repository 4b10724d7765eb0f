"""What people do on the emulated Slack, and what they find there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.emulators.slack import files
from tests.emulators.slack.world import CHANNEL, TEAM, TOKEN, USER, Bot, Channel, World

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.emulators.slack.events import Events

Json = dict[str, Any]


class People:
    """Half of the emulator's control API.

    Channels and users exist from their first mention: ``D…`` is the direct message of one
    person, anything else a public channel unless described otherwise.
    """

    def __init__(self, world: World, events: Events, on_change: Callable[[], None]) -> None:
        self._world = world
        self._events = events
        self._on_change = on_change

    # --- who is there ---

    def bot(
        self,
        token: str = TOKEN,
        *,
        team: str = TEAM,
        user: str = "U0BROOK001",
        bot_id: str = "B0BROOK001",
        enterprise: str | None = None,
    ) -> Bot:
        """Install the app in a team; a known token is unrevoked."""
        self._world.bots[token] = Bot(token, team, user, bot_id, enterprise=enterprise)
        self._world.user(user, team)["is_bot"] = True
        return self._world.bots[token]

    def user(self, user: str, *, team: str = TEAM, **facts: Any) -> None:
        """Describe a user; ``facts`` go into the user object."""
        self._world.user(user, team).update(facts)

    def channel(self, channel: str, *, kind: str = "channel", team: str = TEAM) -> None:
        """Describe a channel: ``channel``, ``group`` (private), ``mpim`` or ``im``."""
        self._world.channels[channel] = Channel(channel, kind, team)

    def archive(self, channel: str) -> None:
        """Archive a channel: nobody writes there any more."""
        self._world.channel(channel).archived = True

    def remove_bot(self, channel: str) -> None:
        """Take the app out of a channel."""
        self._world.channel(channel).closed = True

    def revoke(self, token: str = TOKEN) -> None:
        """Make a bot's token invalid from the next call on."""
        self._world.bots[token].revoked = True

    def revoke_app(self) -> None:
        """Make every app token invalid."""
        self._world.app_tokens.clear()

    # --- what people do ---

    def say(
        self,
        text: str = "",
        *,
        user: str = USER,
        channel: str | None = None,
        thread: str | None = None,
        team: str = TEAM,
        **raw: Any,
    ) -> str:
        """Write as ``user``, in a direct message unless told where, and return the ts.

        ``text`` is as Slack sends it (``<@U…>``, ``&amp;``); ``raw`` overrides message fields.
        A message that mentions the bot comes as the pair ``message`` and ``app_mention``.
        """
        self._world.user(user, team)
        place = self._world.channel(channel or f"D{user[1:]}", team=team, user=user)
        place.closed = False
        message = self._spoken(text, user, team) | self._placed(place, thread) | raw
        self._world.store(place, message)
        self._events.said(place, message)
        self._on_change()
        return str(message["ts"])

    def mention(self, text: str, *, channel: str = CHANNEL, team: str = TEAM, **raw: Any) -> str:
        """Speak to the bot in a channel."""
        bot = self._world.bot_in(team)
        return self.say(f"<@{bot.user}> {text}", channel=channel, team=team, **raw)

    def thread(self, text: str, root: str, *, channel: str = CHANNEL, **raw: Any) -> str:
        """Answer in a thread."""
        return self.say(text, channel=channel, thread=root, **raw)

    def share_file(
        self, content: bytes, *, name: str, mime: str, address: str = "", **said: Any
    ) -> str:
        """Share a file with a message; ``said`` as for ``say``."""
        facts = files.store(self._world, address, name, mime, content)
        return self.say(subtype="file_share", upload=False, files=[facts], **said)

    def bot_say(self, text: str, *, channel: str = CHANNEL, team: str = TEAM, **raw: Any) -> str:
        """Another app writes."""
        other = {"bot_id": "B0OTHER001", "app_id": "A0OTHER001", "user": "U0OTHER001"}
        place = self._world.channel(channel, team=team)
        profile = {"id": "B0OTHER001", "name": "other", "app_id": "A0OTHER001", "team_id": team}
        message = self._spoken(text, "U0OTHER001", team) | other | {"bot_profile": profile} | raw
        self._world.store(place, message)
        self._events.said(place, message)
        return str(message["ts"])

    def edit(self, channel: str, ts: str, text: str) -> None:
        """Change a person's message."""
        place = self._world.channel(channel)
        message = place.messages[ts]
        previous = dict(message)
        message["text"] = text
        message["edited"] = {"user": message["user"], "ts": self._world.next_ts()}
        self._events.changed(place, previous, message)

    def unfurl(self, channel: str, ts: str) -> None:
        """Slack adds a link preview to a message: a change that is no edit."""
        place = self._world.channel(channel)
        message = place.messages[ts]
        previous = dict(message)
        message["attachments"] = [{"id": 1, "from_url": "https://example.org", "title": "t"}]
        self._events.changed(place, previous, message)

    def delete(self, channel: str, ts: str) -> None:
        """Delete a message for everybody."""
        place = self._world.channel(channel)
        self._events.deleted(place, place.messages.pop(ts))

    def push(self, event: Any, *, team: str = TEAM, **envelope: Any) -> str:
        """Deliver a raw event, however odd, and return its event id."""
        return self._events.tell(team, event, **envelope)

    # --- what became of it ---

    def messages(self, channel: str) -> list[Json]:
        """Return what the channel holds now, oldest first, threads included."""
        return self._world.channel(channel).ordered()

    def answers(self, channel: str) -> list[Json]:
        """Return what the bots wrote in the channel and nobody deleted."""
        return [m for m in self.messages(channel) if self._world.owned(m)]

    def sent_files(self, channel: str) -> list[tuple[str, bytes]]:
        """Return (title, content) of the files that the bots posted in the channel."""
        held = [file for one in self.answers(channel) for file in one.get("files", ())]
        return [(file["title"], self._world.files[file["id"]][1]) for file in held]

    def status(self, channel: str, thread: str) -> str:
        """Return what the app shows in a thread while it works, "" for nothing."""
        return self._world.statuses.get((channel, thread), "")

    # --- inside ---

    def _spoken(self, text: str, user: str, team: str) -> Json:
        return {
            "type": "message",
            "user": user,
            "ts": self._world.next_ts(),
            "text": text,
            "team": team,
        }

    def _placed(self, place: Channel, thread: str | None) -> Json:
        if thread is None:
            return {}
        root = place.messages.get(thread, {})
        return {"thread_ts": thread, "parent_user_id": root.get("user", "")}
