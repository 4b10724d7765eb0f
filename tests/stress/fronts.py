"""One emulated platform as a crowd sees it: many people, each alone with the bot, and trouble."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from tests.emulators.discord import TOKEN as DISCORD_TOKEN
from tests.emulators.discord import DiscordEmulator
from tests.emulators.slack import APP_TOKEN, SlackEmulator
from tests.emulators.slack import TOKEN as SLACK_TOKEN
from tests.emulators.telegram import TelegramEmulator
from tests.fakes.household import TOKEN as TELEGRAM_TOKEN

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Json = dict[str, Any]
#: name → what is made to go wrong, at once or with one of the next calls
Faults = "Mapping[str, Callable[[], None]]"


class Front(Protocol):
    """One platform. People are numbers; state survives ``server.stop`` and ``server.start``."""

    name: str

    @property
    def server(self) -> TelegramEmulator | DiscordEmulator | SlackEmulator:
        """The emulator."""
        ...

    @property
    def secrets(self) -> str:
        """Lines of .env."""
        ...

    @property
    def settings(self) -> Json:
        """``platforms.<name>``."""
        ...

    def say(self, who: int, text: str) -> None:
        """Write to the bot as a person."""
        ...

    def duplicate(self) -> None:
        """Deliver once more what was said last."""
        ...

    def poison(self) -> None:
        """Deliver something that no parser can read."""
        ...

    def revoke(self) -> None:
        """Make the bot's token invalid."""
        ...

    def answers(self, who: int) -> list[str]:
        """Return what the bot wrote to a person and nobody removed, oldest first."""
        ...

    def busy(self) -> bool:
        """Tell whether events are on their way that were not taken yet."""
        ...

    def faults(self) -> Mapping[str, Callable[[], None]]:
        """Return what can go wrong, by a name."""
        ...


class TelegramFront:
    """Long polling; a send whose answer is lost cannot be asked for."""

    name = "telegram"

    def __init__(self) -> None:
        self.server = TelegramEmulator()
        self.server.bot(TELEGRAM_TOKEN)

    @property
    def secrets(self) -> str:
        return f"TELEGRAM_BOT_TOKEN={TELEGRAM_TOKEN}"

    @property
    def settings(self) -> Json:
        return {"base_url": self.server.base_url, "base_file_url": self.server.base_file_url}

    def say(self, who: int, text: str) -> None:
        self.server.say(text, user=700_000 + who)

    def duplicate(self) -> None:
        self.server.duplicate()

    def poison(self) -> None:
        self.server.push({"message": {"message_id": "odd", "chat": 7}})

    def revoke(self) -> None:
        self.server.revoke()

    def answers(self, who: int) -> list[str]:
        return [each["text"] for each in self.server.answers(700_000 + who)]

    def busy(self) -> bool:
        return bool(self.server.pending())

    def faults(self) -> Mapping[str, Callable[[], None]]:
        tg = self.server
        return {
            "429": lambda: tg.fail("sendMessage", 429, retry_after=2),
            "500": lambda: tg.fail("sendMessage", 500, "Internal Server Error"),
            "502 page": lambda: tg.malformed("sendMessage", status=502),
            "dropped": lambda: tg.drop("sendMessage"),
            "lost": lambda: tg.lose("sendMessage"),
            "cut off": lambda: tg.truncate("sendMessage"),
            "late": lambda: tg.slow("sendMessage", 0.1),
            "poll dropped": lambda: tg.drop("getUpdates"),
            "poll lost": lambda: tg.lose("getUpdates"),
            "poll 502": lambda: tg.malformed("getUpdates", status=502),
            "poll 429": lambda: tg.fail("getUpdates", 429, retry_after=1),
            "draft 429": lambda: tg.fail("sendMessageDraft", 429, retry_after=2),
            "duplicate": tg.duplicate,
            "poison": self.poison,
        }


class DiscordFront:
    """A session over the gateway; a nonce makes sends repeatable."""

    name = "discord"

    def __init__(self) -> None:
        self.server = DiscordEmulator()
        self.server.bot()

    @property
    def secrets(self) -> str:
        return f"DISCORD_BOT_TOKEN={DISCORD_TOKEN}"

    @property
    def settings(self) -> Json:
        return {"api_base": self.server.api_base, "gateway_url": self.server.gateway_url}

    def say(self, who: int, text: str) -> None:
        self.server.say(text, user=str(5_000 + who))

    def duplicate(self) -> None:
        self.server.duplicate()

    def poison(self) -> None:
        self.server.dispatch("MESSAGE_CREATE", {"id": "7", "author": 9})

    def revoke(self) -> None:
        self.server.revoke()

    def answers(self, who: int) -> list[str]:
        return [each["content"] for each in self.server.answers(user=str(5_000 + who))]

    def busy(self) -> bool:
        return False

    def faults(self) -> Mapping[str, Callable[[], None]]:
        dc = self.server
        return {
            "429": lambda: dc.limit("send", 0.3),
            "429 for all": lambda: dc.limit("send", 0.2, scope="global"),
            "500": lambda: dc.fail("send", 500),
            "502 page": lambda: dc.page("send"),
            "dropped": lambda: dc.drop("send"),
            "lost": lambda: dc.lose("send"),
            "late": lambda: dc.slow("send", 0.1),
            "edit 429": lambda: dc.limit("edit", 0.3),
            "history 500": lambda: dc.fail("history", 500),
            "cut": dc.cut,
            "closed": lambda: dc.cut(4000),
            "reconnect": dc.reconnect,
            "session lost": dc.kill_sessions,
            "duplicate": dc.duplicate,
            "poison": self.poison,
        }


class SlackFront:
    """Socket Mode; messages are found again by their metadata."""

    name = "slack"

    def __init__(self) -> None:
        self.server = SlackEmulator()
        self.server.bot()
        self.server.delivery.retry_seconds = (0.0, 0.5, 2.0)
        self._last = ("", "", "")

    @property
    def secrets(self) -> str:
        return f"SLACK_BOT_TOKEN={SLACK_TOKEN}\nSLACK_APP_TOKEN={APP_TOKEN}"

    @property
    def settings(self) -> Json:
        return {"base_url": self.server.base_url}

    def say(self, who: int, text: str) -> None:
        user = f"U0PERS{who:04}"
        self._last = user, text, self.server.say(text, user=user)

    def duplicate(self) -> None:
        user, text, said = self._last
        if said:
            self.server.say(text, user=user, ts=said)

    def poison(self) -> None:
        self.server.push({"type": "message", "channel": {"id": 9}, "ts": ["odd"]})

    def revoke(self) -> None:
        self.server.revoke()

    def answers(self, who: int) -> list[str]:
        return [each["text"] for each in self.server.answers(f"D0PERS{who:04}")]

    def busy(self) -> bool:
        return bool(self.server.delivery.open)

    def faults(self) -> Mapping[str, Callable[[], None]]:
        slack, post = self.server, "chat.postMessage"
        return {
            "429": lambda: slack.rate_limit(post, 2),
            "broke off": lambda: slack.fail(post, "internal_error"),
            "unavailable": lambda: slack.fail(post, "service_unavailable"),
            "502 page": lambda: slack.malformed(post, status=502),
            "dropped": lambda: slack.drop(post),
            "lost": lambda: slack.lose(post),
            "cut off": lambda: slack.truncate(post),
            "late": lambda: slack.slow(post, 0.1),
            "edit 429": lambda: slack.rate_limit("chat.update", 2),
            "edit lost": lambda: slack.lose("chat.update"),
            "history 429": lambda: slack.rate_limit("conversations.history", 1),
            "sockets cut": slack.sockets.abort,
            "ticket dead": self._dead_ticket,
            "duplicate": self.duplicate,
            "poison": self.poison,
        }

    def _dead_ticket(self) -> None:
        self.server.sockets.dead_tickets = 1
        self.server.sockets.abort()


def all_fronts() -> list[Front]:
    """Return one of each."""
    return [TelegramFront(), DiscordFront(), SlackFront()]
