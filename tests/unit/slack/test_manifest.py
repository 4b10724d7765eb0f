"""Settings and secrets: what is wrong is said in words, without a piece of a token."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from adapters.slack.adapter import create
from adapters.slack.manifest import CAPABILITIES, MANIFEST, SlackSettings, accounts, check
from gateway.model.capabilities import Resend
from gateway.model.errors import ConfigurationError
from gateway.ops.clock import SystemClock
from tests.architecture.startup import loaded

BOT = "xoxb-17653672481-19874698323-pdFZKVeTuE8sk7oOcHrzqygy"
BOT_TOO = "xoxb-27653672481-19874698323-pdFZKVeTuE8sk7oOcHrzqygy"
APP = "xapp-1-A0-1-abcdef"
BOTH = {"SLACK_BOT_TOKEN": BOT, "SLACK_APP_TOKEN": APP}


@pytest.mark.parametrize(
    ("mode", "secrets", "problem"),
    [
        ("socket", BOTH, ""),
        ("socket", {**BOTH, "SLACK_BOT_TOKEN": f" {BOT} , {BOT_TOO} "}, ""),
        ("http", {"SLACK_BOT_TOKEN": BOT, "SLACK_SIGNING_SECRET": "s"}, ""),
        ("socket", {}, "SLACK_BOT_TOKEN is not set"),
        ("socket", {**BOTH, "SLACK_BOT_TOKEN": "xoxp-1-2-abc"}, "token 1 is not of the form"),
        ("socket", {**BOTH, "SLACK_BOT_TOKEN": "xoxe.xoxb-1-abc"}, "without token rotation"),
        ("socket", {**BOTH, "SLACK_BOT_TOKEN": f"{BOT},{BOT}"}, "2 tokens belong to one team"),
        ("socket", {"SLACK_BOT_TOKEN": BOT}, "SLACK_APP_TOKEN"),
        ("socket", {**BOTH, "SLACK_APP_TOKEN": BOT}, "connections:write"),
        ("http", {"SLACK_BOT_TOKEN": BOT, "SLACK_APP_TOKEN": APP}, "SLACK_SIGNING_SECRET"),
    ],
)
def test_what_keeps_it_from_starting(mode: Any, secrets: dict[str, str], problem: str) -> None:
    problems = check(SlackSettings(mode=mode), secrets)
    assert len(problems) == bool(problem)
    assert problem in "".join(problems)
    assert not any(piece in "".join(problems) for piece in ("pdFZ", "abc", "1765"))


def test_the_account_is_known_without_asking_slack() -> None:
    secrets = {"SLACK_BOT_TOKEN": f"{BOT},{BOT_TOO},nonsense"}
    assert accounts(secrets) == ["17653672481", "27653672481"]
    built = create(SlackSettings(), {**secrets, **BOTH}, clock=SystemClock())
    assert [adapter.account for adapter in built] == ["17653672481"]


def test_creating_says_everything_at_once() -> None:
    with pytest.raises(ConfigurationError) as caught:
        create(SlackSettings(), {"SLACK_BOT_TOKEN": "x,y"}, clock=SystemClock())
    assert len(caught.value.problems) == 3


def test_the_settings_are_those_of_the_example() -> None:
    assert SlackSettings().model_dump() == {
        "enabled": "auto",
        "mode": "socket",
        "base_url": "https://slack.com/api/",
        "http": {"listen": "127.0.0.1", "port": 3000},
        "reply_in_thread": True,
        "bare_team": None,
    }
    with pytest.raises(ValidationError):
        SlackSettings.model_validate({"http": {"port": 0}})


def test_what_slack_can_do() -> None:
    assert CAPABILITIES.resend is Resend.LOOK_UP
    assert CAPABILITIES.preview
    assert CAPABILITIES.max_length < 4000
    assert MANIFEST.secrets[0] == "SLACK_BOT_TOKEN"


def test_the_manifest_needs_no_library() -> None:
    assert not {"slack_sdk", "slack_bolt", "aiohttp"} & loaded("adapters.slack.manifest")
