"""Everything the emulated Slack knows: teams with their bots, users, channels, files."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from tests.emulators.slack.errors import SlackError

Json = dict[str, Any]

TEAM = "T0ALPHA001"
USER = "U0MIRA0001"
CHANNEL = "C0ROOM0001"
TOKEN = "xoxb-100000000001-200000000001-EmulatedBotToken"
APP_TOKEN = "xapp-1-A0GATE0001-300000000001-emulatedapptoken"
SIGNING_SECRET = "emulated-signing-secret"
APP = "A0GATE0001"


@dataclass(slots=True)
class Bot:
    """The app as it is installed in one team."""

    token: str
    team: str
    user: str
    bot_id: str
    name: str = "gate"
    enterprise: str | None = None
    revoked: bool = False


@dataclass(slots=True)
class Channel:
    """One conversation; ``messages`` by ts, replies in threads among them."""

    id: str
    #: im, mpim, channel (public) or group (private)
    kind: str
    team: str
    messages: dict[str, Json] = field(default_factory=dict)
    archived: bool = False
    #: the bots were removed from it
    closed: bool = False
    #: the person of an im
    user: str | None = None

    def facts(self) -> Json:
        """Return the conversation object."""
        return {
            "id": self.id,
            "name": self.id.lower(),
            "is_im": self.kind == "im",
            "is_mpim": self.kind == "mpim",
            "is_channel": self.kind == "channel",
            "is_group": self.kind == "group",
            "is_private": self.kind != "channel",
            "is_archived": self.archived,
            "is_member": not self.closed,
            "context_team_id": self.team,
            **({"user": self.user} if self.user else {}),
        }

    def top_level(self) -> list[Json]:
        """Return the messages that stand in the channel itself, oldest first."""
        return [m for m in self.ordered() if _stands_in_channel(m)]

    def thread(self, root: str) -> list[Json]:
        """Return a thread with its root, oldest first."""
        return [m for m in self.ordered() if m["ts"] == root or m.get("thread_ts") == root]

    def ordered(self) -> list[Json]:
        """Return all messages, oldest first."""
        return [self.messages[ts] for ts in sorted(self.messages)]


def _stands_in_channel(message: Json) -> bool:
    in_thread = message.get("thread_ts", message["ts"]) != message["ts"]
    return not in_thread or message.get("subtype") == "thread_broadcast"


class World:
    """The state behind one server."""

    def __init__(self) -> None:
        self.bots: dict[str, Bot] = {}
        self.users: dict[str, Json] = {}
        self.channels: dict[str, Channel] = {}
        self.files: dict[str, tuple[Json, bytes]] = {}
        self.uploads: dict[str, str] = {}
        self.app_tokens = {APP_TOKEN}
        #: (channel, thread) → what the app shows there
        self.statuses: dict[tuple[str, str], str] = {}
        self._last = (0, 0)

    def bot_of(self, token: str) -> Bot:
        """Return the bot of a token, or raise what Slack says of a wrong one."""
        if not token:
            raise SlackError("not_authed")
        bot = self.bots.get(token)
        if bot is None:
            raise SlackError("invalid_auth")
        if bot.revoked:
            raise SlackError("token_revoked")
        return bot

    def bot_in(self, team: str) -> Bot:
        """Return the bot that is installed in ``team``."""
        return next(bot for bot in self.bots.values() if bot.team == team)

    def owned(self, message: Json) -> bool:
        """Return whether one of the bots wrote a message."""
        return message.get("user") in {bot.user for bot in self.bots.values()}

    def channel(self, channel: str, *, team: str = TEAM, user: str | None = None) -> Channel:
        """Return a channel, made up at the first mention: D… is an im, all else public."""
        if channel not in self.channels:
            kind = "im" if channel.startswith("D") else "channel"
            self.channels[channel] = Channel(channel, kind, team, user=user)
        return self.channels[channel]

    def open_channel(self, bot: Bot, channel: str) -> Channel:
        """Return a channel that ``bot`` may use, or raise why it may not."""
        found = self.channels.get(channel)
        if found is None or found.team != bot.team:
            raise SlackError("channel_not_found")
        if found.archived:
            raise SlackError("is_archived")
        if found.closed:
            raise SlackError("not_in_channel")
        return found

    def user(self, user: str, team: str = TEAM) -> Json:
        """Return a user, made up at the first mention."""
        profile = {"real_name": f"Person {user}", "display_name": user.lower()}
        made_up = {
            "id": user,
            "team_id": team,
            "name": user.lower(),
            "real_name": f"Person {user}",
            "is_bot": False,
            "locale": "en-US",
            "profile": profile,
        }
        return self.users.setdefault(user, made_up)

    def next_ts(self) -> str:
        """Return a message id: Unix seconds, a dot, six digits; always a higher one."""
        second, number = max((int(time.time()), 0), self._last)
        self._last = (second, number + 1)
        return f"{second}.{number + 1:06d}"

    def store(self, channel: Channel, message: Json) -> Json:
        """Keep a message; its thread's root learns of it."""
        channel.messages[message["ts"]] = message
        root = channel.messages.get(message.get("thread_ts", ""))
        if root is not None and root is not message:
            root["thread_ts"] = root["ts"]
            root["reply_count"] = root.get("reply_count", 0) + 1
            root["latest_reply"] = message["ts"]
        return message
