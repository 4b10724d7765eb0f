"""The settings as values: the models behind config.yaml and their defaults.

The models are frozen and are filled by ``gateway.settings.read`` alone, which has already
judged every scalar by what the operator typed. honcho.json is in ``honcho_schema``.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict, Field

from gateway.settings.honcho_schema import HonchoSettings
from gateway.settings.kinds import AnyId, Id, Name, QualifiedId, Synonyms, Url, Zone

__all__ = ["HonchoSettings", "Settings"]

#: platforms that an access list may name when no adapter says otherwise
PLATFORMS = ("telegram", "discord", "slack")

IdsByPlatform = Mapping[str, frozenset[Id]]
SwitchByPlatform = Mapping[str, bool]
Models = tuple[str, ...]
Positive = Annotated[int, Field(ge=1)]
Port = Annotated[int, Field(ge=1, le=65535)]
Seconds = Annotated[float, Field(gt=0, le=86400)]


def _empty_lists() -> IdsByPlatform:
    return {platform: frozenset() for platform in PLATFORMS}


def _all_off() -> SwitchByPlatform:
    return dict.fromkeys(PLATFORMS, False)


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class MemorySettings(_Section):
    """``memory``."""

    provider: Literal["builtin", "honcho"] = "builtin"
    memory_enabled: bool = True
    user_profile_enabled: bool = True
    memory_char_limit: Positive = 2200
    user_char_limit: Positive = 1375
    write_approval: bool = False
    derivation: Literal["auto", "rule"] = "auto"
    calls_per_hour: Positive = 60


class ModelSettings(_Section):
    """``model``. ``timeout`` is in seconds for a whole turn."""

    provider: Annotated[
        Literal["auto", "openai", "anthropic", "google", "local"],
        Synonyms({"custom": "openai", "gemini": "google"}),
    ] = "auto"
    name: str | None = None
    base_url: Url | None = None
    fallback: Models = ()
    max_history_tokens: Annotated[int, Field(ge=0)] = 12000
    request_limit: Positive = 8
    timeout: Seconds = 120


class ConsoleSettings(_Section):
    """``platforms.console``."""

    enabled: bool = True


class RateSettings(_Section):
    """``access.rate``."""

    per_minute: Positive = 20


class AccessSettings(_Section):
    """``access``: deny by default; ids are exact text, keyed by platform where they are lists."""

    admins: frozenset[QualifiedId] = frozenset()
    allow: IdsByPlatform = Field(default_factory=_empty_lists)
    roles: IdsByPlatform = Field(default_factory=lambda: {"discord": frozenset()})
    places: IdsByPlatform = Field(default_factory=_empty_lists)
    open_places: IdsByPlatform = Field(default_factory=_empty_lists)
    allow_all: SwitchByPlatform = Field(default_factory=_all_off)
    pairing: bool = True
    #: a link that two accounts' people confirmed waits for an admin's yes
    link_approval: bool = False
    bots: Annotated[
        Literal["ignore", "mentions", "all"],
        Synonyms({"none": "ignore", "false": "ignore", "true": "all"}),
    ] = "ignore"
    rate: RateSettings = RateSettings()


class ResetSettings(_Section):
    """``conversations.reset``; ``at_hour`` is an hour of the day in ``Settings.timezone``."""

    mode: Literal["none", "idle", "daily", "both"] = "none"
    idle_minutes: Positive = 1440
    at_hour: Annotated[int, Field(ge=0, le=23)] = 4


class ConversationSettings(_Section):
    """``conversations``."""

    group_sessions: Literal["per-user", "shared"] = "per-user"
    thread_sessions: Literal["per-user", "shared"] = "shared"
    require_mention: bool = True
    #: ``id`` or ``platform:id`` of places that need no mention
    free_response: frozenset[AnyId] = frozenset()
    reset: ResetSettings = ResetSettings()
    audience: Literal["strict", "open"] = "strict"
    overlap: Annotated[Literal["queue", "interrupt"], Synonyms({"steer": "queue"})] = "queue"
    max_age: timedelta = timedelta(hours=24)
    streaming: bool = True
    reactions: bool = False


class TranscribeSettings(_Section):
    """``voice.transcribe``: an OpenAI-compatible transcription endpoint."""

    base_url: Url
    model: str


class VoiceSettings(_Section):
    """``voice``."""

    transcribe: TranscribeSettings | None = None


class AttachmentSettings(_Section):
    """``attachments``."""

    max_mb: Positive = 20


class ToolSettings(_Section):
    """``tools``."""

    openclaw_names: bool = False


class EmbeddingSettings(_Section):
    """``embeddings``."""

    provider: Literal["auto", "local", "openai", "off"] = "auto"
    base_url: Url | None = None
    name: str | None = None


class StoreSettings(_Section):
    """``store``; the address may hold a password, so it is kept out of ``repr``."""

    url: Url | None = Field(default=None, repr=False)


class WebSettings(_Section):
    """``web``."""

    enabled: bool = True
    host: str = "127.0.0.1"
    port: Port = 8787
    reveal: Literal["ask", "off"] = "ask"


class RetentionSettings(_Section):
    """``retention``; None keeps for ever."""

    text: timedelta | None = None
    done: timedelta | None = timedelta(days=30)
    raw: timedelta | None = timedelta(days=3)
    audit: timedelta | None = timedelta(days=365)


class LogSettings(_Section):
    """``log``."""

    level: Annotated[
        Literal["debug", "info", "warning", "error"], Synonyms({"warn": "warning"})
    ] = "info"
    format: Literal["auto", "console", "json"] = "auto"


class TelemetrySettings(_Section):
    """``telemetry``."""

    otlp_endpoint: Url | None = None


class Settings(_Section):
    """config.yaml. ``platforms`` holds one validated section for each known platform."""

    profile: Name = "default"
    language: Literal["auto", "en", "ru", "zh"] = "auto"
    timezone: Zone = "UTC"
    memory: MemorySettings = MemorySettings()
    model: ModelSettings = ModelSettings()
    platforms: Mapping[str, BaseModel] = Field(
        default_factory=lambda: {"console": ConsoleSettings()}
    )
    access: AccessSettings = AccessSettings()
    conversations: ConversationSettings = ConversationSettings()
    voice: VoiceSettings = VoiceSettings()
    attachments: AttachmentSettings = AttachmentSettings()
    tools: ToolSettings = ToolSettings()
    embeddings: EmbeddingSettings = EmbeddingSettings()
    store: StoreSettings = StoreSettings()
    role: Literal["all", "ingress", "worker"] = "all"
    web: WebSettings = WebSettings()
    retention: RetentionSettings = RetentionSettings()
    log: LogSettings = LogSettings()
    telemetry: TelemetrySettings = TelemetrySettings()

    @property
    def zone(self) -> ZoneInfo:
        """The time zone of resets and of dates shown to people."""
        return ZoneInfo(self.timezone)
