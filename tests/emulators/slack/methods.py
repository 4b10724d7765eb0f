"""Methods of the Web API about the app, its conversations and people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.emulators.slack.errors import SlackError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.emulators.slack.arguments import Arguments
    from tests.emulators.slack.events import Events
    from tests.emulators.slack.world import Bot, Channel, World

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """One call with all it may touch."""

    world: World
    events: Events
    bot: Bot
    args: Arguments
    #: ``http://127.0.0.1:PORT``
    address: str

    def channel(self) -> Channel:
        """Return the channel that ``channel`` names, or raise."""
        return self.world.open_channel(self.bot, self.args.text("channel"))


def auth_test(call: Call) -> Json:
    bot = call.bot
    return {
        "url": "https://emulated.slack.com/",
        "team": bot.team.lower(),
        "user": bot.name,
        "team_id": bot.team,
        "user_id": bot.user,
        "bot_id": bot.bot_id,
        "is_enterprise_install": False,
        **({"enterprise_id": bot.enterprise} if bot.enterprise else {}),
    }


def conversations_history(call: Call) -> Json:
    found = _between(call, call.channel().top_level())
    return _page(call, found[::-1])


def conversations_replies(call: Call) -> Json:
    channel, root = call.channel(), call.args.text("ts")
    if root not in channel.messages:
        raise SlackError("thread_not_found")
    thread = channel.thread(root)
    return _page(call, [thread[0], *_between(call, thread[1:])])


def conversations_info(call: Call) -> Json:
    return {"channel": call.channel().facts()}


def conversations_open(call: Call) -> Json:
    user = call.args.text("users")
    channel = f"D{user[1:]}"
    return {"channel": call.world.channel(channel, team=call.bot.team, user=user).facts()}


def users_conversations(call: Call) -> Json:
    kinds = {
        {"public_channel": "channel", "private_channel": "group"}.get(kind, kind)
        for kind in (call.args.text("types") or "public_channel").split(",")
    }
    found = [
        channel.facts()
        for channel in call.world.channels.values()
        if channel.team == call.bot.team
        and channel.kind in kinds
        and not (channel.closed or channel.archived)
    ]
    return _page(call, found, key="channels")


def users_info(call: Call) -> Json:
    user = call.world.users.get(call.args.text("user"))
    if user is None:
        raise SlackError("user_not_found")
    return {"user": user}


def set_status(call: Call) -> Json:
    where = (call.args.text("channel_id"), call.args.text("thread_ts"))
    call.world.open_channel(call.bot, where[0])
    if not where[1]:
        raise SlackError("invalid_arguments")
    call.world.statuses[where] = call.args.text("status")
    return {}


def react(call: Call) -> Json:
    if call.args.text("timestamp") not in call.channel().messages:
        raise SlackError("message_not_found")
    if not call.args.text("name").strip(":").isascii():
        raise SlackError("invalid_name")
    return {}


def connections_open(call: Call) -> Json:
    raise SlackError("not_allowed_token_type")


def _between(call: Call, messages: list[Json]) -> list[Json]:
    oldest = call.args.text("oldest") or "0"
    latest = call.args.text("latest") or "9999999999.999999"
    inclusive = call.args.flag("inclusive")
    return [
        message
        for message in messages
        if float(oldest) < float(message["ts"]) < float(latest)
        or (inclusive and message["ts"] in (oldest, latest))
    ]


def _page(call: Call, items: list[Json], *, key: str = "messages") -> Json:
    start, limit = call.args.number("cursor", 0), call.args.number("limit", 100)
    page, more = items[start : start + limit], start + limit < len(items)
    if not call.args.flag("include_all_metadata"):
        page = [{name: item[name] for name in item if name != "metadata"} for item in page]
    cursor = str(start + limit) if more else ""
    return {key: page, "has_more": more, "response_metadata": {"next_cursor": cursor}}


METHODS: dict[str, Callable[[Call], Json]] = {
    "auth.test": auth_test,
    "apps.connections.open": connections_open,
    "conversations.history": conversations_history,
    "conversations.replies": conversations_replies,
    "conversations.info": conversations_info,
    "conversations.open": conversations_open,
    "users.conversations": users_conversations,
    "users.info": users_info,
    "assistant.threads.setStatus": set_status,
    "reactions.add": react,
    "reactions.remove": react,
}
