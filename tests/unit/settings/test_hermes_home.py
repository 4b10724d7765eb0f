"""A home of Hermes Agent works unchanged; what has no meaning here is listed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.settings.homes import Telegram

if TYPE_CHECKING:
    from tests.unit.settings.homes import Homes

_CONFIG = """\
_config_version: 12
model:
  default: qwen
  provider: custom
  base_url: http://127.0.0.1:11434/v1
  api_key: sk-local-Secret-0123456789
  context_length: 8000
session_reset: {mode: daily, at_hour: 5, idle_minutes: 60}
group_sessions_per_user: false
thread_sessions_per_user: true
unauthorized_dm_behavior: ignore
streaming: {enabled: false, edit_interval: 0.5}
display: {busy_input_mode: interrupt, skin: mono}
memory: {provider: builtin, memory_char_limit: 3000, nudge_interval: 10}
platforms:
  telegram:
    enabled: true
    token: 111222333:AAinventedTokenForTests_0123456789abcd
    extra: {base_url: "http://127.0.0.1:9/bot"}
  whatsapp: {enabled: true}
terminal: {backend: local}
"""


def test_keys_find_their_place(homes: Homes) -> None:
    loaded = homes.read(_CONFIG)
    found = loaded.settings
    assert (found.model.name, found.model.provider) == ("qwen", "openai")
    assert found.model.base_url == "http://127.0.0.1:11434/v1"
    reset = found.conversations.reset
    assert (reset.mode, reset.at_hour, reset.idle_minutes) == ("daily", 5, 60)
    assert found.conversations.group_sessions == "shared"
    assert found.conversations.thread_sessions == "per-user"
    assert found.access.pairing is False
    assert found.conversations.streaming is False
    assert found.conversations.overlap == "interrupt"
    assert found.memory.memory_char_limit == 3000
    telegram = found.platforms["telegram"]
    assert isinstance(telegram, Telegram)
    assert (telegram.enabled, telegram.base_url) == (True, "http://127.0.0.1:9/bot")
    assert loaded.warnings == ()


def test_rest_is_listed_not_warned(homes: Homes) -> None:
    assert homes.read(_CONFIG).unused == (
        "config.yaml:1: _config_version",
        "config.yaml:13: display",
        "config.yaml:12: streaming",
        "config.yaml:21: terminal",
        "config.yaml:14: memory.nudge_interval",
        "config.yaml:7: model.context_length",
        "config.yaml:20: platforms.whatsapp",
    )


def test_secrets_of_the_file_are_taken_and_hidden(homes: Homes) -> None:
    """H-42."""
    loaded = homes.read(_CONFIG)
    assert loaded.secrets["OPENAI_API_KEY"] == "sk-local-Secret-0123456789"
    assert loaded.secrets.tokens("TELEGRAM_BOT_TOKEN") == (
        "111222333:AAinventedTokenForTests_0123456789abcd",
    )
    assert "Secret-0" not in repr(loaded)
    assert "invented" not in repr(loaded)


def test_environment_beats_the_secret_in_the_file(homes: Homes) -> None:
    assert homes.read(_CONFIG, environ={"OPENAI_API_KEY": "other"}).secrets["OPENAI_API_KEY"] == (
        "other"
    )


@pytest.mark.parametrize(
    ("config", "provider"),
    [
        ("{model: {provider: anthropic, api_key: k}}", "ANTHROPIC_API_KEY"),
        ("{model: {provider: gemini, api_key: k}}", "GOOGLE_API_KEY"),
        ("{model: {api_key: k}}", "OPENAI_API_KEY"),
    ],
)
def test_key_goes_to_its_provider(homes: Homes, config: str, provider: str) -> None:
    assert dict(homes.read(config).secrets) == {provider: "k"}


def test_empty_texts_mean_what_they_mean_there(homes: Homes) -> None:
    loaded = homes.read(
        "memory: {provider: ''}\nmodel: {base_url: '', api_key: ''}\ntimezone: ''",
        '{"apiKey": "k"}',
    )
    assert loaded.settings.memory.provider == "builtin"
    assert (loaded.settings.model.base_url, loaded.settings.timezone) == (None, "UTC")
    assert dict(loaded.secrets) == {}


def test_own_key_beats_its_twin(homes: Homes) -> None:
    found = homes.read("""
model: {default: theirs, name: ours}
group_sessions_per_user: false
conversations: {group_sessions: per-user}
""").settings
    assert found.model.name == "ours"
    assert found.conversations.group_sessions == "per-user"


@pytest.mark.parametrize(
    ("config", "fault"),
    [
        (
            "group_sessions_per_user: 7",
            "group_sessions_per_user: the value is not a switch; write true or false",
        ),
        (
            "unauthorized_dm_behavior: shout",
            "access.pairing: shout is not a switch; write true or false",
        ),
        (
            "display: {busy_input_mode: x}",
            "conversations.overlap: x is not one of queue, interrupt",
        ),
    ],
)
def test_faults(homes: Homes, config: str, fault: str) -> None:
    assert homes.faults(config) == (f"config.yaml:1: {fault}",)
