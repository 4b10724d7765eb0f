"""What is known of Slack without its library: limits, settings, secrets, faults of both."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from adapters.slack.render import size
from gateway.model.capabilities import Capabilities, Resend
from gateway.model.ids import AccountId, PlatformName
from gateway.ports import Manifest
from gateway.settings.kinds import Id, Url  # noqa: TC001  (pydantic reads it at run time)

if TYPE_CHECKING:
    from collections.abc import Mapping

SLACK = PlatformName("slack")
BOT_TOKEN = "SLACK_BOT_TOKEN"  # noqa: S105  (the variable's name)
APP_TOKEN = "SLACK_APP_TOKEN"  # noqa: S105  (the variable's name)
SIGNING_SECRET = "SLACK_SIGNING_SECRET"  # noqa: S105  (the variable's name)

#: Bytes of mrkdwn in one message. Posting takes more, but a message may be edited only up to
#: 4,000 bytes, and an answer that was shown while it was written is finished by an edit.
LONGEST = 3_800

CAPABILITIES = Capabilities(
    max_length=LONGEST,
    length_unit="points",
    measure=size,
    resend=Resend.LOOK_UP,
    max_upload=1 << 30,
    preview=True,
    typing=True,
    buttons=True,
    # The status fades after two minutes, and with the next message.
    typing_seconds=45.0,
)

#: Slack itself
SERVICE_ACCOUNTS = frozenset({"USLACKBOT"})

_BOT_TOKEN = re.compile(r"xoxb-([0-9]{1,20})-[A-Za-z0-9-]+")
_APP_TOKEN = re.compile(r"xapp-[A-Za-z0-9-]+")


class HttpSettings(BaseModel):
    """``platforms.slack.http``: where we listen for what Slack posts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    listen: str = "127.0.0.1"
    port: Annotated[int, Field(ge=1, le=65535)] = 3000


class SlackSettings(BaseModel):
    """``platforms.slack``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    #: auto: on when a bot token is set
    enabled: Literal["auto"] | bool = "auto"
    mode: Literal["socket", "http"] = "socket"
    base_url: Url = "https://slack.com/api/"
    http: HttpSettings = HttpSettings()
    #: an answer to a message in a channel opens a thread under it
    reply_in_thread: bool = True
    #: the team whose user ids stand bare; null: the first one that connected
    bare_team: Id | None = None


def split_tokens(secrets: Mapping[str, str]) -> list[str]:
    """Return the bot tokens of ``SLACK_BOT_TOKEN``, which are separated by commas."""
    listed = secrets.get(BOT_TOKEN, "").split(",")
    return [token.strip() for token in listed if token.strip()]


def account_of(token: str) -> AccountId:
    """Return the account of a well-formed bot token: Slack's number of the team.

    It stands in the token itself, so it is known while Slack is out of reach, and it stays when
    the app is installed anew. The team's ``T…`` id is something else: only Slack can tell it.
    """
    found = _BOT_TOKEN.fullmatch(token)
    return AccountId(found[1] if found else "")


def accounts(secrets: Mapping[str, str]) -> list[AccountId]:
    """Return the accounts of the tokens that have a token's form."""
    return [account_of(token) for token in filter(_BOT_TOKEN.fullmatch, split_tokens(secrets))]


def check(settings: Any, secrets: Mapping[str, str]) -> list[str]:
    """Return what keeps the adapter from starting, in words, without any part of a secret."""
    tokens = split_tokens(secrets)
    if not tokens:
        return [
            f"{BOT_TOKEN} is not set: copy the Bot User OAuth Token (xoxb-…) from the app's page "
            "OAuth & Permissions into .env"
        ]
    problems = [
        f"{BOT_TOKEN}: token {number} is not of the form xoxb-1234-…; copy the Bot User OAuth "
        "Token again, from an app without token rotation"
        for number, token in enumerate(tokens, 1)
        if not _BOT_TOKEN.fullmatch(token)
    ]
    problems += [
        f"{BOT_TOKEN}: {count} tokens belong to one team; keep one token of each team"
        for count in Counter(accounts(secrets)).values()
        if count > 1
    ]
    return problems + _check_mode(settings.mode, secrets)


def _check_mode(mode: str, secrets: Mapping[str, str]) -> list[str]:
    if mode == "http" and not secrets.get(SIGNING_SECRET, "").strip():
        return [
            f"{SIGNING_SECRET} is not set: platforms.slack.mode is http; copy the Signing Secret "
            "from the app's page Basic Information into .env"
        ]
    if mode == "socket" and not _APP_TOKEN.fullmatch(secrets.get(APP_TOKEN, "").strip()):
        return [
            f"{APP_TOKEN} is not set or not of the form xapp-…: make an App-Level Token with the "
            "scope connections:write on the app's page Basic Information, or set "
            "platforms.slack.mode to http"
        ]
    return []


MANIFEST = Manifest(
    name=SLACK,
    capabilities=CAPABILITIES,
    settings=SlackSettings,
    secrets=(BOT_TOKEN, APP_TOKEN, SIGNING_SECRET),
    service_accounts=SERVICE_ACCOUNTS,
    accounts=accounts,
    factory="adapters.slack.adapter:create",
    probe="adapters.slack.probe:probe",
    check=check,
)
