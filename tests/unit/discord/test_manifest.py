"""What can be said of Discord before its library is loaded."""

from __future__ import annotations

import subprocess
import sys

import pytest
from pydantic import ValidationError

from adapters.discord.adapter import create
from adapters.discord.manifest import MANIFEST, DiscordSettings, account_of, check
from gateway.model.capabilities import Resend
from gateway.model.errors import ConfigurationError
from gateway.model.outbound import RichText
from tests.emulators.discord import TOKEN, make_token
from tests.fakes.skipping import SkippingClock


def secrets(value: str) -> dict[str, str]:
    return {"DISCORD_BOT_TOKEN": value}


def test_the_manifest_needs_no_library() -> None:
    code = "import sys, adapters.discord.manifest; sys.exit('discord' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_what_discord_can_do() -> None:
    able = MANIFEST.capabilities
    assert (able.max_length, able.length_unit) == (2000, "points")
    assert able.resend is Resend.IDEMPOTENT
    assert (able.typing, able.preview, able.has_users) == (True, True, True)
    assert able.typing_seconds < 10
    assert able.measure is not None
    assert able.measure(RichText("a_b 😀")) == len("a\\_b 😀")


def test_defaults_are_those_of_the_example() -> None:
    assert MANIFEST.settings().model_dump() == {
        "enabled": "auto",
        "api_base": "https://discord.com/api/v10",
        "gateway_url": "wss://gateway.discord.gg/",
    }


def test_unknown_settings_are_refused() -> None:
    with pytest.raises(ValidationError):
        DiscordSettings.model_validate({"shards": 2})


@pytest.mark.parametrize(
    ("token", "account"),
    [
        (TOKEN, "111"),
        (make_token("812345678901234567"), "812345678901234567"),
        ("", None),
        ("Bot " + TOKEN, None),
        ("MTEx.only-two", None),
        ("!!!.x.y", None),
        (make_token("not-digits"), None),
        ("A.x.y", None),
        ("AAAAA.x.y", None),
    ],
)
def test_the_account_is_in_the_token(token: str, account: str | None) -> None:
    assert account_of(token) == account
    assert list(MANIFEST.accounts(secrets(f" {token} "))) == ([account] if account else [])


@pytest.mark.parametrize(
    ("settings", "token", "named"),
    [
        ({}, "", "DISCORD_BOT_TOKEN is not set"),
        ({}, "wrong-secret", "three parts"),
        ({"api_base": "ftp://x"}, TOKEN, "platforms.discord.api_base"),
        ({"gateway_url": "https://x"}, TOKEN, "platforms.discord.gateway_url"),
    ],
)
def test_problems_are_said_before_the_start(
    settings: dict[str, str], token: str, named: str
) -> None:
    model = DiscordSettings.model_validate(settings)
    [problem] = check(model, secrets(token))
    assert named in problem
    assert "wrong-secret" not in problem
    with pytest.raises(ConfigurationError):
        create(model, secrets(token), clock=SkippingClock())


def test_a_good_token_makes_one_adapter() -> None:
    [adapter] = create(DiscordSettings(), secrets(TOKEN), clock=SkippingClock())
    assert (adapter.platform, adapter.account) == ("discord", "111")
