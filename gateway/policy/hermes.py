"""What of Hermes Agent's conversations is taken over, and as whose. Pure.

Its database holds what people and the agent said beside what the product told itself: summaries,
reminders, tools, sub-agents. Only the first is taken, and only where one account can have said
it; the rest is left out with a reason.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from gateway.model.events import Place, PlaceKind, Sender, SenderKind
from gateway.model.ids import AccountId, PlaceId, PlatformName, UserId
from gateway.policy.session import KeyParts, build_key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gateway.model.ids import ConversationKey, ScopeId

USER, ASSISTANT = "user", "assistant"

#: sources in which whoever sits at the machine speaks
_LOCAL = frozenset({"cli", "tui", "desktop", "local", "acp", "chat"})
_PLATFORMS = frozenset({"telegram", "discord", "slack"})
#: what its gateway calls a conversation with one person
_DIRECT = frozenset({"dm", "direct", "private", "im"})
#: ends of a session after which its child goes on, or begins anew, with the same people
_CONTINUED = frozenset(
    {
        *("compression", "branched", "session_reset", "session_switch", "new_session"),
        *("idle", "daily", "suspended", "resume_pending_expired"),
    }
)
#: beginnings of what the product says to its own model in a person's place
_OWN_WORDS = (
    "[CONTEXT COMPACTION",
    "[CONTEXT SUMMARY]",
    "[PRIOR CONTEXT",
    "[ASYNC DELEGATION",
    "[IMPORTANT: ",
    "[SYSTEM: ",
    "[System note: ",
    "[Your active task list was preserved",
    "[Continuing toward your standing goal]",
    "Review the conversation above and ",
)
#: in front of content that is a list of parts: written first, and since
_PARTS = ("\0json:", "\1json:")


@dataclass(frozen=True, slots=True)
class HermesSession:
    """One row of ``sessions``; columns that a version does not have are None."""

    id: str
    source: str
    user: str | None = None
    chat: str | None = None
    chat_type: str | None = None
    key: str | None = None
    title: str | None = None
    started_at: float | None = None
    ended_at: float | None = None
    parent: str | None = None
    parent_end: str | None = None
    #: JSON; names a branch or a reset by ``_branched_from`` and ``_reset_from``
    config: str | None = None


@dataclass(frozen=True, slots=True)
class HermesMessage:
    """One row of ``messages``."""

    id: int
    role: str
    content: str | None
    at: float
    #: False: taken back, or replaced by a summary
    active: bool = True
    #: still part of what was said, though a summary stands for it
    compacted: bool = False
    #: said in a group and not to the agent
    observed: bool = False
    summary: bool = False
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class Speaker:
    """As whom a session's person is resolved."""

    platform: PlatformName
    sender: Sender
    place: Place

    def conversation(self, profile: str) -> ConversationKey:
        """Return a key for the ladder: whether the place is one person's alone."""
        parts = KeyParts(
            profile, self.platform, AccountId("hermes"), self.place.kind, self.place.id
        )
        return build_key(parts)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Why a session is not taken."""

    reason: str


def speaker(
    session: HermesSession,
    *,
    bare_team: ScopeId | None,
    service_accounts: Mapping[str, frozenset[str]] = MappingProxyType({}),
) -> Speaker | LeftOut:
    """Return whose words a session's user messages are, or why that cannot be told.

    ``service_accounts``: ids of each platform's own accounts, which are nobody.
    """
    if _sub_agent(session):
        return LeftOut("sub-agent")
    if session.source in _LOCAL:
        place = Place(PlaceKind.DIRECT, PlaceId(session.id))
        return Speaker(PlatformName("console"), Sender(SenderKind.OPERATOR), place)
    if session.source not in _PLATFORMS:
        return LeftOut(f"source {session.source}")
    where = _where(session)
    user = session.user or _partner(session.source, where)
    if not user:
        return LeftOut("no account")
    if user in service_accounts.get(session.source, ()):
        return LeftOut("no person")
    if where.kind is not PlaceKind.DIRECT and not _own_session(session, user):
        return LeftOut("shared by several people")
    if session.source == "slack" and bare_team is None:
        return LeftOut("Slack team unknown")
    scope = bare_team if session.source == "slack" else None
    sender = Sender(SenderKind.PERSON, UserId(user), scope)
    return Speaker(PlatformName(session.source), sender, where)


def _sub_agent(session: HermesSession) -> bool:
    if session.parent is None or session.parent_end in _CONTINUED:
        return False
    config = _json(session.config or "")
    return not (isinstance(config, dict) and {"_branched_from", "_reset_from"} & config.keys())


def _where(session: HermesSession) -> Place:
    """Return the chat; its kind and id stand in columns, or in the session's key before those.

    ``agent:main:<platform>:<type>:<chat>[:<thread>][:<participant>]``
    """
    parts = (session.key or "").split(":")
    kind, chat = session.chat_type or "", session.chat or ""
    if len(parts) > 4:
        kind, chat = kind or parts[3], chat or parts[4]
    direct = kind.lower() in _DIRECT or (not kind and chat in ("", session.user))
    chat = chat or session.user or session.id
    return Place(PlaceKind.DIRECT if direct else PlaceKind.GROUP, PlaceId(chat))


def _partner(platform: str, where: Place) -> str:
    """Return whose a direct message is by its chat alone: only Telegram numbers it as its user."""
    direct = where.kind is PlaceKind.DIRECT and platform == "telegram"
    return where.id if direct else ""


def _own_session(session: HermesSession, user: str) -> bool:
    """Tell whether a group's session is one participant's: its key ends with them."""
    parts = (session.key or "").split(":")
    return len(parts) > 5 and parts[-1] == user


def words(message: HermesMessage) -> str:
    """Return what was said, "" for what nobody said to anybody."""
    if message.role not in (USER, ASSISTANT) or message.summary or message.hidden:
        return ""
    if message.observed or not (message.active or message.compacted):
        return ""
    text = _plain(message.content or "")
    own = message.role == USER and text.lstrip().startswith(_OWN_WORDS)
    return "" if own or not text.strip() else text


def _plain(content: str) -> str:
    """Return the text of a content; pictures and the like have none."""
    prefix = next((each for each in _PARTS if content.startswith(each)), None)
    if prefix is None:
        return content
    parts = _json(content.removeprefix(prefix))
    if not isinstance(parts, list):
        return ""
    texts = (part.get("text") for part in parts if isinstance(part, dict))
    return "\n".join(text for text in texts if isinstance(text, str))


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def fresh(
    said: list[HermesMessage], before: list[HermesMessage], *, continued: bool
) -> list[HermesMessage]:
    """Return a session's messages without the end of its parent that was copied to its beginning.

    ``continued``: it goes on with what a summary was made of.
    """
    if not continued:
        return said
    known = {(each.role, each.content) for each in before}
    start = 0
    while start < len(said) and _carried(said[start], known):
        start += 1
    return said[start:]


def _carried(message: HermesMessage, known: set[tuple[str, str | None]]) -> bool:
    return not words(message) or (message.role, message.content) in known
