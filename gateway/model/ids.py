"""Distinct string types for every kind of id.

Only an adapter builds or parses a platform's ids; everywhere else they are opaque text.
They are stored, so a change of any format is a migration.
"""

from __future__ import annotations

import secrets
import time
from typing import NewType

PlatformName = NewType("PlatformName", str)
"""Name of an adapter: ``telegram``, ``console``."""

AccountId = NewType("AccountId", str)
"""The bot (or Slack app in a team) through which the gateway takes part; digits for Telegram."""

UserId = NewType("UserId", str)
"""A platform's id of an account that can speak. Exact text, never a number."""

ScopeId = NewType("ScopeId", str)
"""The space in which a ``UserId`` is unique where that is not the platform (Slack: the team)."""

PlaceId = NewType("PlaceId", str)
"""A chat, group or channel, as the platform names it (signed for Telegram groups)."""

ThreadId = NewType("ThreadId", str)
"""A thread or topic inside a place."""

MessageId = NewType("MessageId", str)
"""A platform's id of one message, unique within (platform, account, place)."""

ConversationKey = NewType("ConversationKey", str)
"""Escaped key of one conversation, see ``gateway.policy.session``."""

SessionId = NewType("SessionId", str)
"""Name of a memory session: ``[A-Za-z0-9_-]{1,100}``."""

PeerId = NewType("PeerId", str)
"""A person or an agent in the memory service: ``[A-Za-z0-9_-]{1,100}``."""

TurnId = NewType("TurnId", str)
"""Id of one turn; sorts by time of creation."""

LedgerKey = NewType("LedgerKey", str)
"""Stable key of one message on its way to memory, made before the first attempt."""

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def _base32(number: int, length: int) -> str:
    digits = []
    for _ in range(length):
        number, digit = divmod(number, 32)
        digits.append(_ALPHABET[digit])
    return "".join(reversed(digits))


def sortable_id(prefix: str) -> str:
    """Return a new unique id: ``prefix_`` + 9 characters of time + 11 random ones.

    Ids made in different milliseconds sort by time. The characters are lower case and safe
    in a shell, a URL and a memory service id.
    """
    return f"{prefix}_{_base32(time.time_ns() // 1_000_000, 9)}{_base32(secrets.randbits(55), 11)}"


def new_turn_id() -> TurnId:
    """Return a new ``TurnId``."""
    return TurnId(sortable_id("t"))
