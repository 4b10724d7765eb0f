"""What is said to a memory service, and what it says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from gateway.model.ids import LedgerKey, PeerId, SessionId


@dataclass(frozen=True, slots=True)
class Observation:
    """What a peer's membership of a session says; None leaves the service's own value."""

    #: a representation of this peer is formed
    observe_me: bool | None = None
    #: this peer forms representations of the others
    observe_others: bool | None = None


@dataclass(frozen=True, slots=True)
class MemoryMessage:
    """One message, or one numbered part of a long one, on its way to the service."""

    key: LedgerKey
    peer: PeerId
    text: str
    sent_at: datetime


@dataclass(frozen=True, slots=True)
class ContextQuery:
    """Which base context is wanted, and from whose point of view."""

    session: SessionId
    #: whom it is about
    target: PeerId
    #: who observed; None: the target's own view
    perspective: PeerId | None = None
    #: nothing from any other session; raises ``MemoryUnsupportedError`` rather than being ignored
    only_this_session: bool = False
    #: nothing from any other sessions than these; () for no such limit, raises like the above
    sessions: tuple[SessionId, ...] = ()
    search: str = ""


@dataclass(frozen=True, slots=True)
class BaseContext:
    """What the service knows without thinking. Empty where it knows nothing."""

    summary: str = ""
    representation: str = ""
    card: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DialecticQuestion:
    """One dialectic question; the service answers with a model of its own."""

    text: str
    asker: PeerId
    #: None: the asker about itself
    target: PeerId | None
    session: SessionId | None
    level: str
    #: nothing from any other session
    only_this_session: bool = False
    #: nothing from any other sessions than these; () for no such limit
    sessions: tuple[SessionId, ...] = ()


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A stored message that a search found."""

    text: str
    peer: PeerId
    session: SessionId
    sent_at: datetime
