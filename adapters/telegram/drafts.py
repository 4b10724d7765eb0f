"""What is asked of the Bot API and what it says: values between sink and client."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from telegram import MessageEntity

    from gateway.model.choice import Choice
    from gateway.model.ids import MessageId, PlaceId, ThreadId


@dataclass(frozen=True, slots=True)
class Draft:
    """One ``sendMessage`` as it will be tried. ``text`` stays out of ``repr``."""

    place: PlaceId
    text: str = field(repr=False)
    entities: tuple[MessageEntity, ...] = field(default=(), repr=False)
    thread: ThreadId | None = None
    reply_to: MessageId | None = None
    choice: Choice | None = None


@dataclass(frozen=True, slots=True)
class Upload:
    """One file as it will be tried, from the disk."""

    place: PlaceId
    path: Path = field(repr=False)
    name: str
    #: shown at once, and made smaller; else as the file that it is
    photo: bool = False
    thread: ThreadId | None = None
    reply_to: MessageId | None = None


@dataclass(frozen=True, slots=True)
class Sent:
    """Telegram's answer to a send."""

    message: MessageId
    #: it stands as an answer to the message that the draft named
    replied: bool


@dataclass(frozen=True, slots=True)
class WebhookState:
    """What Telegram says of a bot's webhook. ``url`` holds its secret path."""

    url: str = field(repr=False)
    waiting: int = 0
    error: str = ""
    error_at: datetime | None = None

    def failing(self, now: datetime, seconds: float) -> bool:
        """Tell whether updates wait and the last delivery failed within ``seconds``."""
        if not self.waiting or self.error_at is None:
            return False
        return now - self.error_at <= timedelta(seconds=seconds)
