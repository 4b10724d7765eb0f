"""Outbound parts and what became of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from gateway.model.choice import Choice
from gateway.model.files import SentFile
from gateway.model.ids import (
    AccountId,
    MessageId,
    PlaceId,
    PlatformName,
    ThreadId,
    TurnId,
)


class SpanKind(StrEnum):
    """Formatting of a range of text."""

    BOLD = "bold"
    ITALIC = "italic"
    STRIKE = "strike"
    CODE = "code"
    PRE = "pre"
    LINK = "link"
    QUOTE = "quote"
    HEADING = "heading"


@dataclass(frozen=True, slots=True)
class Span:
    """``text[start:end]`` (code points) has ``kind``; ``value`` is a language or an address."""

    kind: SpanKind
    start: int
    end: int
    value: str = ""


@dataclass(frozen=True, slots=True)
class RichText:
    """Visible text with ranges: the one representation that every platform serialises."""

    text: str
    spans: tuple[Span, ...] = ()


class PartState(StrEnum):
    """Life of an outbound part."""

    WAITING = "waiting"
    SENDING = "sending"
    DELIVERED = "delivered"
    #: it may have arrived; not sent again blindly
    UNKNOWN = "unknown"
    FAILED = "failed"

    @property
    def final(self) -> bool:
        """True when nothing more will be tried on its own."""
        return self in (PartState.DELIVERED, PartState.UNKNOWN, PartState.FAILED)


@dataclass(frozen=True, slots=True)
class Address:
    """Where a part goes."""

    platform: PlatformName
    account: AccountId
    place: PlaceId
    thread: ThreadId | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """One message to send. ``key`` is stable over retries: nonce or metadata for the platform."""

    key: str
    address: Address
    #: empty where the message is a file
    content: RichText
    turn: TurnId | None = None
    #: the message this answers; a missing one must not stop the delivery
    reply_to: MessageId | None = None
    #: the last part of its turn
    last: bool = True
    #: buttons that stand under it
    choice: Choice | None = None
    #: the own message that it takes the place of, buttons and all; one that is gone must not
    #: stop the delivery
    edits: MessageId | None = None
    #: the message is this file, without words
    file: SentFile | None = None
    #: this part was in flight when the process before this one ended
    in_doubt: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Receipt:
    """The platform took the part."""

    message: MessageId
    #: what had to give way: ``plain`` (formatting), ``no-reply``, ``no-thread``, ``no-buttons``,
    #: ``no-edit`` (the message to change was gone)
    degraded: tuple[str, ...] = ()
    #: the place's new id, where sending found out that it has moved
    moved_to: PlaceId | None = None
