"""Secrets: from .env or the environment, several tokens, never shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.settings.credentials import Secrets

if TYPE_CHECKING:
    from tests.unit.settings.homes import Homes

TOKEN = "111222333:AAinventedTokenForTests_0123456789abcd"


def test_tokens_are_split_once_each(homes: Homes) -> None:
    secrets = homes.read(
        env=f"TELEGRAM_BOT_TOKEN={TOKEN}, 2:b ,,{TOKEN}\nSLACK_BOT_TOKEN= \n"
    ).secrets
    assert secrets.tokens("TELEGRAM_BOT_TOKEN") == (TOKEN, "2:b")
    assert secrets.tokens("SLACK_BOT_TOKEN") == ()
    assert list(secrets) == ["TELEGRAM_BOT_TOKEN"]


def test_environment_beats_dotenv(homes: Homes) -> None:
    loaded = homes.read(
        env="OPENAI_API_KEY=file\nGOOGLE_API_KEY=file", environ={"OPENAI_API_KEY": "process"}
    )
    assert dict(loaded.secrets) == {"OPENAI_API_KEY": "process", "GOOGLE_API_KEY": "file"}


def test_nothing_of_a_secret_is_printed() -> None:
    """H-42."""
    secrets = Secrets({"TELEGRAM_BOT_TOKEN": TOKEN, "OPENAI_API_KEY": ""})
    for text in (repr(secrets), str(secrets), f"{secrets!r:>5}"):
        assert text.strip() == "Secrets(TELEGRAM_BOT_TOKEN=[secret])"


def test_broken_secret_is_a_fault_that_does_not_repeat_it(homes: Homes) -> None:
    assert homes.faults(environ={"OPENAI_API_KEY": "sk-se\x00cret", "GOOGLE_API_KEY": "a b"}) == (
        "environment: OPENAI_API_KEY: blanks or odd characters inside; copy it anew",
        "environment: GOOGLE_API_KEY: blanks or odd characters inside; copy it anew",
    )
