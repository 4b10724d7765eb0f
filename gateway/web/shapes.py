"""What pages and API show: the same values for both."""

from __future__ import annotations

from datetime import datetime  # noqa: TC003  (pydantic reads it at run time)
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from gateway.text.clean import clean


def _whole(text: str) -> str:
    return clean(text).strip()


#: what somebody typed, without what no database takes
Typed = Annotated[str, Field(max_length=2000), AfterValidator(_whole)]


class Shape(BaseModel):
    """Values that are shown."""

    model_config = ConfigDict(frozen=True)


class Body(BaseModel):
    """Values that are sent to us; what is not known is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Failure(Shape):
    """Why something was not done."""

    code: str
    detail: str


# --- health ----------------------------------------------------------------------------------


class ConnectionView(Shape):
    """One account on one platform."""

    platform: str
    account: str
    state: str
    detail: str
    since: datetime | None


class LaneView(Shape):
    """One kind of work in the mailbox."""

    name: str
    waiting: int
    running: int
    dead: int
    oldest: datetime | None


class MemoryHealth(Shape):
    """The memory service."""

    provider: str
    #: well | failing | paused | off
    state: str
    code: str = ""
    failures: int = 0
    pause_seconds: int = 0
    waiting: int
    saved: int
    parked: int


class HealthView(Shape):
    """How the gateway is."""

    version: str
    profile: str
    started_at: datetime
    ready: bool
    #: what keeps it from being ready, or wants a look
    problems: list[str]
    connections: list[ConnectionView]
    lanes: list[LaneView]
    memory: MemoryHealth
    turns: dict[str, int]
    parts: dict[str, int]
    unreadable: int
    #: what is wrong with the audit, "" where nothing is
    audit: str


# --- pairing ---------------------------------------------------------------------------------


class RequestView(Shape):
    """A stranger who wants to be let in."""

    id: str
    account: str
    asked_at: datetime
    expires_at: datetime


class GrantView(Shape):
    """An account that was let in."""

    account: str
    name: str
    admin: bool
    granted_by: str
    granted_at: datetime


class PairingView(Shape):
    """Who waits, and who was let in."""

    waiting: list[RequestView]
    granted: list[GrantView]


class Approval(Body):
    """The code that a person was given."""

    code: Typed
    admin: bool = False


class Deciding(Body):
    """Which account, or which request."""

    account: Typed


class Admin(Body):
    """Whether an account that was let in is an admin."""

    account: Typed
    admin: bool


# --- sessions --------------------------------------------------------------------------------


class SessionView(Shape):
    """One memory session."""

    session: str
    conversation: str
    title: str
    open: bool
    peer: str | None
    messages: int
    last_saved_index: int
    opened_at: datetime
    last_activity: datetime | None
    close_reason: str
    replaced_by: str | None


class MemberView(Shape):
    """One member of a memory session, with the flags as the service has them."""

    peer: str
    observe_me: bool | None
    observe_others: bool | None


class SessionDetail(SessionView):
    """One memory session with its members."""

    members: list[MemberView]


class SubAgent(Body):
    """A session for a sub-agent: who works in it, and who sent it."""

    agent: Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_whole)]
    parent: Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_whole)]


class SubAgentSession(Shape):
    """A session of a sub-agent, open at the service."""

    session: str
    agent: str
    parent: str


# --- deliveries ------------------------------------------------------------------------------


class DeliveryView(Shape):
    """A part of an answer that has not arrived, as far as is known."""

    id: int
    state: str
    turn: str | None
    part: int
    purpose: str
    place: str
    attempts: int
    error: str
    created_at: datetime


class Retry(Body):
    """Whether to send a part again that may have arrived."""

    twice: bool = False


# --- traces ----------------------------------------------------------------------------------


class TurnView(Shape):
    """One message's way, in short."""

    turn: str
    peer: str
    rung: str
    state: str
    attempts: int
    platform: str
    conversation: str
    session: str
    error: str
    at: datetime
    seconds: float


class Trace(Shape):
    """One message's way, step by step; the same as ``hermes-gateway trace --json``."""

    found: dict[str, Any]


# --- memory of a person ----------------------------------------------------------------------


class FileCount(Shape):
    """MEMORY.md or USER.md of a person."""

    name: str
    entries: int
    chars: int
    limit: int


class MemoryView(Shape):
    """What is remembered of a person, in numbers."""

    peer: str
    #: rows of the ledger by state
    messages: dict[str, int]
    sessions: int
    turns: int
    files: list[FileCount]
    #: None where the memory service could not be asked
    conclusions: int | None
    card: int | None
    waiting_writes: int
    #: why nothing can be revealed, "" where it can
    closed: str


class Reveal(Body):
    """Why the text has to be seen; the person is told."""

    reason: Typed


class Said(Shape):
    """One message."""

    role: str
    text: str
    at: datetime


class WaitingWrite(Shape):
    """What the agent wants to write into a file and has no yes for."""

    id: str
    file: str
    action: str
    content: str
    old_text: str


class WriteDecision(Body):
    """The answer to a write that waits."""

    yes: bool


class Revealed(Shape):
    """The text behind the numbers."""

    peer: str
    files: dict[str, list[str]]
    card: list[str]
    conclusions: list[str]
    messages: list[Said]
    writes: list[WaitingWrite]


# --- settings --------------------------------------------------------------------------------


class SettingsView(Shape):
    """What ``config check`` finds."""

    ok: bool
    problems: list[str]
    warnings: list[str]
    unused: list[str]
    files: list[str]


class Done(Shape):
    """It was done."""

    ok: bool = True
