"""The settings of the memory service as values: the model behind honcho.json."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr
from pydantic.alias_generators import to_camel

from gateway.settings.kinds import Clamp, Name, Synonyms, Url

ReasoningLevel = Literal["minimal", "low", "medium", "high", "max"]
MemoryMode = Literal["hybrid", "honcho", "local"]
#: an integer writes every that many turns
WriteFrequency = Literal["async", "turn", "session"] | Annotated[int, Field(ge=1)]
SomeName = Annotated[Name, Field(min_length=1)]
Names = Mapping[str, Name]
Count = Annotated[int, Field(ge=1)]
Wait = Annotated[float, Field(ge=0, le=60)]


class _HonchoModel(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True
    )


class PeerObservation(_HonchoModel):
    """Overrides of one side's flags; None leaves the preset's."""

    observe_me: bool | None = None
    observe_others: bool | None = None


class Observation(_HonchoModel):
    """``observation``: overrides of ``observationMode``."""

    user: PeerObservation = PeerObservation()
    ai: PeerObservation = PeerObservation()


class HonchoSettings(_HonchoModel):
    """The effective memory settings of one host: host block over root over environment.

    ``peer_name`` None means that none was given, "" that the operator wants none.
    """

    #: which block of ``hosts`` is ours; not a key of the file
    host: str = "hermes"
    api_key: SecretStr | None = None
    base_url: Url | None = None
    environment: Annotated[
        Literal["production", "local", "demo"], Synonyms({"prod": "production"})
    ] = "production"
    #: seconds
    timeout: Annotated[float, Field(gt=0, le=600)] = 30
    #: None: on when there is a key or an address, see ``active``
    enabled: bool | None = None
    workspace: SomeName = "hermes"
    peer_name: Name | None = None
    ai_peer: SomeName = "hermes"
    pin_user_peer: bool = False
    user_peer_aliases: Names = Field(default_factory=dict)
    runtime_peer_prefix: Name = ""
    session_strategy: Literal["per-directory", "per-repo", "per-session", "global"] = (
        "per-directory"
    )
    session_peer_prefix: bool = False
    sessions: Names = Field(default_factory=dict)
    save_messages: bool = True
    write_frequency: WriteFrequency = "async"
    message_max_chars: Annotated[int, Field(ge=16)] = 25000
    recall_mode: Annotated[Literal["hybrid", "context", "tools"], Synonyms({"auto": "hybrid"})] = (
        "hybrid"
    )
    context_tokens: Count | None = None
    context_cadence: Count = 1
    dialectic_cadence: Count = 2
    dialectic_depth: Annotated[int, Clamp(1, 3), Field(ge=1, le=3)] = 1
    dialectic_depth_levels: tuple[ReasoningLevel, ...] | None = None
    dialectic_reasoning_level: ReasoningLevel = "low"
    dialectic_dynamic: bool = True
    dialectic_max_chars: Count = 600
    dialectic_max_input_chars: Count = 10000
    reasoning_heuristic: bool = True
    reasoning_level_cap: ReasoningLevel = "high"
    observation_mode: Annotated[
        Literal["directional", "unified"],
        Synonyms({"shared": "unified", "separate": "directional", "cross": "directional"}),
    ] = "directional"
    observation: Observation = Observation()
    memory_mode: MemoryMode = "hybrid"
    #: None: ``memory_mode`` holds, see ``user_mode``
    user_memory_mode: MemoryMode | None = None
    agent_memory_mode: MemoryMode | None = None
    #: seconds
    first_turn_base_wait: Wait = 3.0
    first_turn_dialectic_wait: Wait = 2.0
    init_on_session_start: bool = False

    @property
    def active(self) -> bool:
        """True unless switched off, or never switched on and without key and address."""
        return bool(self.api_key or self.base_url) if self.enabled is None else self.enabled

    @property
    def user_mode(self) -> MemoryMode:
        """Memory mode of people: their own key first, then the shorthand."""
        return self.user_memory_mode or self.memory_mode

    @property
    def agent_mode(self) -> MemoryMode:
        """Memory mode of the agent: its own key first, then the shorthand."""
        return self.agent_memory_mode or self.memory_mode
