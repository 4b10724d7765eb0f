"""What the app is told: events as Slack wraps them, from what happens in the world."""

from __future__ import annotations

import itertools
import time
from typing import TYPE_CHECKING, Any

from tests.emulators.slack.world import APP

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.emulators.slack.world import Channel, World

Json = dict[str, Any]


class Events:
    """Wraps events and hands each to ``deliver``."""

    def __init__(self, world: World, deliver: Callable[[Json], None]) -> None:
        self._world = world
        self._deliver = deliver
        self._numbers = itertools.count(1)

    def said(self, channel: Channel, message: Json) -> None:
        """Tell of a new message: once more as a mention, if it holds the bot's."""
        if channel.closed:
            return
        event = {**message, "channel": channel.id, "event_ts": message["ts"]}
        event.pop("metadata", None)
        self.tell(channel.team, {**event, "channel_type": channel.kind})
        bot = self._world.bot_in(channel.team)
        files = message.get("subtype") == "file_share"
        if f"<@{bot.user}>" in message["text"] and channel.kind != "im" and not files:
            self.tell(channel.team, {**event, "type": "app_mention"})

    def changed(self, channel: Channel, previous: Json, message: Json) -> None:
        """Tell of an edit."""
        body = {"subtype": "message_changed", "message": dict(message)}
        self._hidden(channel, body | {"previous_message": previous})

    def deleted(self, channel: Channel, message: Json) -> None:
        """Tell of a deletion."""
        body = {"subtype": "message_deleted", "deleted_ts": message["ts"]}
        self._hidden(channel, body | {"previous_message": message})

    def _hidden(self, channel: Channel, body: Json) -> None:
        ts = self._world.next_ts()
        where = {"channel": channel.id, "channel_type": channel.kind, "hidden": True}
        self.tell(channel.team, {"type": "message", **body, **where, "ts": ts, "event_ts": ts})

    def tell(self, team: str, event: Any, **envelope: Any) -> str:
        """Deliver one event, however odd, and return its id; ``envelope`` overrides fields."""
        bot = self._world.bot_in(team)
        event_id = f"Ev{next(self._numbers):010d}"
        payload: Json = {
            "token": "verification",
            "team_id": team,
            "api_app_id": APP,
            "event": event,
            "type": "event_callback",
            "event_id": event_id,
            "event_time": int(time.time()),
            "authorizations": [
                {
                    "enterprise_id": bot.enterprise,
                    "team_id": team,
                    "user_id": bot.user,
                    "is_bot": True,
                    "is_enterprise_install": False,
                }
            ],
            "is_ext_shared_channel": False,
            **envelope,
        }
        self._deliver(payload)
        return event_id
