"""Events and senders of an invented household, for the tests of the policies."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from gateway.model.events import (
    Command,
    EventKind,
    InboundEvent,
    Place,
    PlaceKind,
    ReplyRef,
    Sender,
    SenderKind,
)
from gateway.model.ids import (
    AccountId,
    MessageId,
    PlaceId,
    PlatformName,
    ScopeId,
    ThreadId,
    UserId,
)
from gateway.policy.identity import IdentityRules

TELEGRAM = PlatformName("telegram")
DISCORD = PlatformName("discord")
SLACK = PlatformName("slack")
CONSOLE = PlatformName("console")

MIRA, TOBIAS, STRANGER = "700100200", "700100201", "700999999"
MIRA_DISCORD = "812345678901234567"
ALPHA, BETA, MIRA_SLACK = "T0ALPHA001", "T0BETA0002", "U0MIRA0001"
GROUP = "-1005550001112"
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)

OPERATOR = Sender(SenderKind.OPERATOR)
UNREADABLE = Sender(SenderKind.UNKNOWN)


def sender(user: str | None = MIRA, kind: SenderKind = SenderKind.PERSON, **more: Any) -> Sender:
    """Return a sender; ``scope`` and ``alternatives`` may be plain text."""
    return Sender(kind, None if user is None else UserId(user), **more)


def slack_user(user: str = MIRA_SLACK, team: str = ALPHA) -> Sender:
    """Return a person of a Slack team."""
    return Sender(SenderKind.PERSON, UserId(user), ScopeId(team))


def direct(chat: str = MIRA, thread: str | None = None) -> Place:
    """Return a private chat."""
    return Place(PlaceKind.DIRECT, PlaceId(chat), _thread(thread))


def group(chat: str = GROUP, thread: str | None = None, parent: str | None = None) -> Place:
    """Return a group, or a thread in one."""
    above = None if parent is None else PlaceId(parent)
    return Place(PlaceKind.GROUP, PlaceId(chat), _thread(thread), above)


def _thread(thread: str | None) -> ThreadId | None:
    return None if thread is None else ThreadId(thread)


def event(
    place: Place | None = None,
    who: Sender | None = None,
    *,
    platform: str = TELEGRAM,
    account: str = "111",
    **more: Any,
) -> InboundEvent:
    """Return a message of Mira in her direct chat, but for what is named."""
    message = InboundEvent(
        EventKind.MESSAGE,
        PlatformName(platform),
        AccountId(account),
        place or direct(),
        MessageId("31"),
        who or sender(),
        NOON,
        text="hello",
    )
    return replace(message, **more)


REPLY_TO_BOT = ReplyRef(MessageId("30"), to_bot=True)
REPLY_TO_OTHER = ReplyRef(MessageId("30"))
NEW = Command("new")


def rules(**changes: Any) -> IdentityRules:
    """Return the household's identity rules, but for what is named."""
    defaults: dict[str, Any] = {
        "pin": False,
        "peer_name": "mira",
        "aliases": {},
        "links": {},
        "prefix": "",
        "ai_peer": "brook",
        "bare_team": ScopeId(ALPHA),
    }
    return IdentityRules(**{**defaults, **changes})
