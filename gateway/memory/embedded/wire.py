"""Request bodies of the API: what is accepted, cleaned and refused."""

from __future__ import annotations

import math
from datetime import datetime  # noqa: TC003  (pydantic reads it at run time)
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from gateway.text.clean import clean

MAX_ID = 100
MAX_BATCH = 100
MAX_MESSAGE = 25_000
MAX_QUERY = 10_000
MAX_CONCLUSION = 65_535
#: how large a context is when the client names no size, and the largest one
MAX_TOKENS = 100_000
MAX_METADATA_KEYS = 100
MAX_METADATA_DEPTH = 5
#: lists do not count as depth of metadata, but nothing may be as deep as this
_MAX_NESTING = 50

ID_PATTERN = r"^[a-zA-Z0-9_-]+$"
Id = Annotated[str, Field(min_length=1, max_length=MAX_ID, pattern=ID_PATTERN)]


def cleaned(value: Any, depth: int = 0) -> Any:
    """Return JSON without NUL and lone surrogates, which not every database can hold.

    Raises ``ValueError`` for numbers that are none and for nesting without end.
    """
    if depth > _MAX_NESTING:
        raise ValueError(f"Nesting exceeds maximum depth of {_MAX_NESTING}")
    match value:
        case str():
            return clean(value)
        case dict():
            return {clean(str(key)): cleaned(each, depth + 1) for key, each in value.items()}
        case list():
            return [cleaned(each, depth + 1) for each in value]
        case float() if not math.isfinite(value):
            raise ValueError("Numbers must be finite")
    return value


def _checked_metadata(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if len(value) > MAX_METADATA_KEYS:
        raise ValueError(f"Metadata exceeds maximum of {MAX_METADATA_KEYS} top-level keys")
    if _depth(value) > MAX_METADATA_DEPTH:
        raise ValueError(f"Metadata nesting exceeds maximum depth of {MAX_METADATA_DEPTH}")
    return cleaned(value)


def _depth(value: dict[str, Any], limit: int = MAX_METADATA_DEPTH) -> int:
    """Return how deep objects stand directly in objects, at most ``limit`` + 1."""
    if limit == 0:
        return 1
    return 1 + max(
        (_depth(each, limit - 1) for each in value.values() if type(each) is dict), default=0
    )


def _without_nulls(value: list[str]) -> list[str]:
    return [clean(each) for each in value]


Text = Annotated[str, AfterValidator(clean)]
Metadata = Annotated[dict[str, Any], BeforeValidator(_checked_metadata)]
Filters = Annotated[dict[str, Any], BeforeValidator(cleaned)]
PeerCard = Annotated[list[str], AfterValidator(_without_nulls)]


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
