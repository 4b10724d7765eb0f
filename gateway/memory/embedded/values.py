"""Small values and rules that several modules of the service need."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from datetime import datetime

Json = dict[str, Any]

_ID_LENGTH = 21
_CHARACTERS_PER_TOKEN = 4


class SessionRef(NamedTuple):
    """One session of one workspace."""

    workspace: str
    session: str


class PairRef(NamedTuple):
    """What ``observer`` knows of ``observed``, in one workspace."""

    workspace: str
    observer: str
    observed: str


class Flags(NamedTuple):
    """Who observes, for a peer within a session; None is not set."""

    observe_me: bool | None = None
    observe_others: bool | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """One page of a list."""

    page: int = 1
    size: int = 50
    reverse: bool = False


def new_id() -> str:
    """Return a new id for a message or conclusion: 21 characters of ``[A-Za-z0-9_-]``."""
    return secrets.token_urlsafe(_ID_LENGTH)[:_ID_LENGTH]


def token_count(text: str) -> int:
    """Return about how many tokens a text has: one for each four characters begun."""
    return -(-len(text) // _CHARACTERS_PER_TOKEN)


def stamp(moment: datetime) -> str:
    """Return an aware UTC time as the API writes it."""
    return moment.isoformat().replace("+00:00", "Z")
