"""What can be said of Telegram before its library is loaded."""

from __future__ import annotations

import subprocess
import sys

import pytest
from pydantic import SecretStr, ValidationError

from adapters.telegram.adapter import create
from adapters.telegram.manifest import MANIFEST, TelegramSettings, WebhookSettings, check
from adapters.telegram.webhook import WebhookAddress
from gateway.model.capabilities import Resend
from gateway.model.errors import ConfigurationError
from tests.fakes.skipping import SkippingClock

OFFICIAL = "https://api.telegram.org/bot"
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
        create(TelegramSettings(), secrets(tokens), clock=SkippingClock())
    assert problem in str(caught.value)
    assert len(caught.value.problems) == 1
    assert "AA" not in str(caught.value)


def test_the_accounts_are_known_without_asking_telegram() -> None:
    assert MANIFEST.accounts(secrets(f"{ONE},nonsense,{TWO}")) == ["111", "222"]
    assert "1087968824" in MANIFEST.service_accounts


def test_good_tokens_make_one_adapter_each() -> None:
    adapters = create(TelegramSettings(), secrets(f" {ONE}, {TWO},"), clock=SkippingClock())
    assert [adapter.account for adapter in adapters] == ["111", "222"]
    assert {adapter.platform for adapter in adapters} == {MANIFEST.name}


def test_no_token_shows_in_what_is_handed_out() -> None:
    """H-42."""
    [adapter] = create(TelegramSettings(), secrets(ONE), clock=SkippingClock())
    assert "AAinvented" not in repr([adapter, vars(adapter)])


@pytest.mark.parametrize(
    ("webhook", "base_url", "problem"),
    [
        ({"url": "https://e.org/tg"}, OFFICIAL, ""),
        ({"url": "https://e.org/tg", "secret": "a-b_C9"}, OFFICIAL, ""),
        ({"url": "http://127.0.0.1:1/tg"}, "http://127.0.0.1:2/bot", ""),
        ({}, OFFICIAL, "platforms.telegram.webhook.url is not set"),
        ({"url": "http://e.org/tg"}, OFFICIAL, "https addresses only"),
        ({"url": "https://e.org", "secret": "no blanks"}, OFFICIAL, "webhook.secret"),
        ({"url": "https://e.org", "secret": "x" * 257}, OFFICIAL, "webhook.secret"),
    ],
)
def test_what_a_webhook_needs(webhook: dict[str, str], base_url: str, problem: str) -> None:
    chosen = {"mode": "webhook", "base_url": base_url, "webhook": webhook}
    found = check(TelegramSettings.model_validate(chosen), secrets(ONE))
    assert len(found) == bool(problem)
    assert all(problem in line for line in found)
    assert all(webhook.get("secret", "?") not in line for line in found)


def test_a_webhooks_address_is_its_bots_own_and_stays() -> None:
    chosen = WebhookSettings(url="https://e.org/tg/")
    one, again, two = (WebhookAddress(chosen, token) for token in (ONE, ONE, TWO))
    assert (one.url, one.secret) == (again.url, again.secret)
    assert one.url == f"https://e.org/tg/{one.segment}"
    assert len({one.segment, one.secret, two.segment, two.secret}) == 4
    assert min(map(len, (one.segment, one.secret))) >= 32
    own = WebhookAddress(WebhookSettings(url="https://e.org", secret=SecretStr("mine")), ONE)
    assert own.secret == "mine"
