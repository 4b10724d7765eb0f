"""What can be said of Telegram before its library is loaded."""

from __future__ import annotations

import subprocess
import sys

import pytest
from pydantic import ValidationError

from adapters.telegram.adapter import create
from adapters.telegram.manifest import MANIFEST, TelegramSettings, check
from gateway.model.capabilities import Resend
from gateway.model.errors import ConfigurationError
from tests.unit.telegram.clock import FakeClock

ONE, TWO = "111:AAinvented-for_tests1", "222:BBinvented-for_tests2"


def secrets(value: str) -> dict[str, str]:
    return {"TELEGRAM_BOT_TOKEN": value}


def test_the_manifest_needs_no_library() -> None:
    code = "import sys, adapters.telegram.manifest; sys.exit('telegram' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_what_telegram_can_do() -> None:
    able = MANIFEST.capabilities
    assert (able.max_length, able.length_unit, able.max_spans) == (4096, "utf16", 100)
    assert able.resend is Resend.NEVER
    assert (able.typing, able.typing_seconds, able.has_users) == (True, 5.0, True)
    assert 0 < able.paste_limit <= able.max_length


def test_defaults_are_those_of_the_example() -> None:
    assert MANIFEST.settings().model_dump() == {
        "enabled": "auto",
        "mode": "polling",
        "base_url": "https://api.telegram.org/bot",
        "base_file_url": "https://api.telegram.org/file/bot",
        "webhook": {"url": None, "listen": "127.0.0.1", "port": 8443, "secret": None},
    }


@pytest.mark.parametrize("values", [{"mode": "push"}, {"enabled": "maybe"}, {"new_key": 1}])
def test_settings_are_strict(values: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        TelegramSettings.model_validate(values)


@pytest.mark.parametrize(
    ("tokens", "problem"),
    [
        ("", "TELEGRAM_BOT_TOKEN is not set"),
        (" , ", "TELEGRAM_BOT_TOKEN is not set"),
        ("AAinvented", "token 1 is not of the form"),
        (f"{ONE},nonsense", "token 2 is not of the form"),
        (f"{ONE}, {ONE}", "bot 111 is listed 2 times"),
        (f"{ONE},111:AAsecond-token", "bot 111 is listed 2 times"),
    ],
)
def test_faulty_tokens(tokens: str, problem: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        create(TelegramSettings(), secrets(tokens), clock=FakeClock())
    assert problem in str(caught.value)
    assert len(caught.value.problems) == 1
    assert "AA" not in str(caught.value)


def test_the_accounts_are_known_without_asking_telegram() -> None:
    assert MANIFEST.accounts(secrets(f"{ONE},nonsense,{TWO}")) == ["111", "222"]
    assert "1087968824" in MANIFEST.service_accounts


def test_good_tokens_make_one_adapter_each() -> None:
    adapters = create(TelegramSettings(), secrets(f" {ONE}, {TWO},"), clock=FakeClock())
    assert [adapter.account for adapter in adapters] == ["111", "222"]
    assert {adapter.platform for adapter in adapters} == {MANIFEST.name}


def test_no_token_shows_in_what_is_handed_out() -> None:
    """H-42."""
    [adapter] = create(TelegramSettings(), secrets(ONE), clock=FakeClock())
    assert "AAinvented" not in repr([adapter, vars(adapter)])


def test_a_mode_that_is_not_served_is_said() -> None:
    settings = TelegramSettings(mode="webhook")
    assert check(settings, secrets(ONE)) == [
        "platforms.telegram.mode: webhook is not served; set it to polling"
    ]
