"""Request bodies of the API: what is accepted, cleaned and refused."""

from __future__ import annotations

from datetime import datetime  # noqa: TC003  (pydantic reads it at run time)
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from gateway.memory.embedded.cleaning import (
    Filters,
    Metadata,
    PeerCard,
    Text,
    cleaned,
)
from gateway.text.clean import clean

MAX_ID = 100
MAX_BATCH = 100
MAX_MESSAGE = 25_000
MAX_QUERY = 10_000
MAX_CONCLUSION = 65_535
#: how large a context is when the client names no size, and the largest one
MAX_TOKENS = 100_000

ID_PATTERN = r"^[a-zA-Z0-9_-]+$"
Id = Annotated[str, Field(min_length=1, max_length=MAX_ID, pattern=ID_PATTERN)]


# --- configuration ---------------------------------------------------------------------------


class ReasoningConfiguration(BaseModel):
    """Whether anything is derived from messages."""

    enabled: bool | None = None
    custom_instructions: Text | None = None


class PeerCardConfiguration(BaseModel):
    """Kept for clients that set it; cards are written by hand here."""

    use: bool | None = None
    create: bool | None = None


class SummaryConfiguration(BaseModel):
    """Whether and how often a session is summarised."""

    enabled: bool | None = None
    messages_per_short_summary: int | None = Field(default=None, ge=10)
    messages_per_long_summary: int | None = Field(default=None, ge=20)


class DreamConfiguration(BaseModel):
    """Kept for clients that set it."""

    enabled: bool | None = None


class _Configuration(BaseModel):
    model_config = ConfigDict(extra="allow")

    reasoning: ReasoningConfiguration | None = None
    peer_card: PeerCardConfiguration | None = None
    summary: SummaryConfiguration | None = None
    dream: DreamConfiguration | None = None


Configuration = Annotated[_Configuration, BeforeValidator(cleaned)]


class MessageConfiguration(BaseModel):
    """What one message may overrule."""

    reasoning: ReasoningConfiguration | None = None


class SessionPeerConfig(BaseModel):
    """A peer's flags within a session; an unset one follows the peer."""

    observe_me: bool | None = None
    observe_others: bool | None = None


# --- workspaces, peers, sessions -------------------------------------------------------------


class WorkspaceCreate(BaseModel):
    """Get or create a workspace; metadata that is given replaces."""

    id: Id
    metadata: Metadata | None = None
    configuration: Configuration | None = None


class PeerCreate(BaseModel):
    """Get or create a peer; what is given replaces."""

    id: Id
    metadata: Metadata | None = None
    configuration: Metadata | None = None


class SessionCreate(BaseModel):
    """Get or create a session; metadata replaces, configuration merges, peers are added."""

    id: Id
    metadata: Metadata | None = None
    peers: dict[Id, SessionPeerConfig] | None = None
    configuration: Configuration | None = None
    scopes: list[str] | None = None


class Update(BaseModel):
    """Change a workspace or session: metadata replaces, configuration merges."""

    metadata: Metadata | None = None
    configuration: Configuration | None = None


class PeerUpdate(BaseModel):
    """Change a peer: both replace."""

    metadata: Metadata | None = None
    configuration: Metadata | None = None


class Listing(BaseModel):
    """What a list is narrowed to."""

    filters: Filters | None = None


# --- messages --------------------------------------------------------------------------------


class MessageCreate(BaseModel):
    """One message; without ``created_at`` it is dated now, without a zone it is UTC."""

    content: Annotated[str, Field(max_length=MAX_MESSAGE), AfterValidator(clean)]
    peer_id: Id
    metadata: Metadata | None = None
    configuration: MessageConfiguration | None = None
    created_at: datetime | None = None


class MessageBatch(BaseModel):
    """Messages that are stored together or not at all, in this order."""

    messages: list[MessageCreate] = Field(min_length=1, max_length=MAX_BATCH)


class MessageUpdate(BaseModel):
    """A message's metadata is all that can change."""

    metadata: Metadata | None = None


class Search(BaseModel):
    """Words to look for."""

    query: Text
    filters: Filters | None = None
    limit: int = Field(default=10, ge=1, le=100)
    scope: str | None = None


# --- what is known ---------------------------------------------------------------------------


class ConclusionCreate(BaseModel):
    """One conclusion about a peer, made by a client."""

    content: Annotated[str, Field(min_length=1, max_length=MAX_CONCLUSION), AfterValidator(clean)]
    observer_id: Id
    observed_id: Id
    session_id: Id | None = None


class ConclusionBatch(BaseModel):
    """Conclusions that are stored together or not at all."""

    conclusions: list[ConclusionCreate] = Field(min_length=1, max_length=MAX_BATCH)


class ConclusionQuery(BaseModel):
    """Words to look for in the conclusions of one pair, which ``filters`` names."""

    query: Text
    top_k: int = Field(default=10, ge=1, le=100)
    distance: float | None = Field(default=None, ge=0.0, le=1.0)
    filters: Filters | None = None


class CardSet(BaseModel):
    """A peer card, whole."""

    peer_card: PeerCard


class Part(BaseModel):
    """Which part of a representation is wanted; distances mean nothing to a search by words."""

    search_query: Text | None = None
    search_top_k: int | None = Field(default=None, ge=1, le=100)
    search_max_distance: float | None = Field(default=None, ge=0.0, le=1.0)
    include_most_frequent: bool | None = None
    max_conclusions: int | None = Field(default=None, ge=1, le=100)


class Representation(Part):
    """A representation, and what it is confined to."""

    session_id: Id | None = None
    filters: Filters | None = None
    scope: str | list[str] | None = None
    target: Id | None = None


class PeerContext(Part):
    """Query of a peer's context."""

    target: Id | None = None


class SessionContext(Part):
    """Query of a session's context."""

    tokens: int = Field(default=MAX_TOKENS, le=MAX_TOKENS)
    summary: bool = True
    peer_target: Id | None = None
    peer_perspective: Id | None = None
    scope: str | None = None
    sessions: list[str] | None = None
    limit_to_session: bool = False


class Chat(BaseModel):
    """A question about a peer."""

    query: Annotated[str, Field(min_length=1, max_length=MAX_QUERY), AfterValidator(clean)]
    session_id: Id | None = None
    filters: Filters | None = None
    scope: str | list[str] | None = None
    target: Id | None = None
    stream: bool = False
    reasoning_level: Literal["minimal", "low", "medium", "high", "max"] = "low"
    response_format: dict[str, Any] | None = None


class Dream(BaseModel):
    """A request to think things over."""

    observer: Id
    observed: Id | None = None
    dream_type: Literal["omni", "card_refresh"]
    session_id: Id | None = None
    rebuild: bool = False
