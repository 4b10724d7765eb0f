"""What is known of Telegram without its library: limits, settings, secrets, faults of both."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from gateway.model.capabilities import Capabilities, Resend
from gateway.model.ids import AccountId, PlatformName
from gateway.ports import Manifest
from gateway.settings.kinds import Url  # noqa: TC001  (pydantic reads it at run time)

if TYPE_CHECKING:
    from collections.abc import Mapping

TELEGRAM = PlatformName("telegram")
TOKEN_VARIABLE = "TELEGRAM_BOT_TOKEN"  # noqa: S105  (the variable's name)

CAPABILITIES = Capabilities(
    max_length=4096,
    length_unit="utf16",
    resend=Resend.NEVER,
    preview=True,
    typing=True,
    buttons=True,
    typing_seconds=5.0,
    # Telegram's apps cut a paste at 4096 characters, at a line or word where they find one.
    paste_limit=3900,
    max_spans=100,
    max_download=20 << 20,
    max_upload=50 << 20,
)

#: the group's anonymous admin, Telegram itself, a person who writes as a channel
SERVICE_ACCOUNTS = frozenset({"1087968824", "777000", "136817688"})

_OFFICIAL = "https://api.telegram.org/"
_SECRET = re.compile(r"[A-Za-z0-9_-]{1,256}")
_TOKEN = re.compile(r"[0-9]{1,20}:[A-Za-z0-9_-]+")


class WebhookSettings(BaseModel):
    """``platforms.telegram.webhook``: where Telegram posts to, and where we listen for it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: Url | None = None
    listen: str = "127.0.0.1"
    port: Annotated[int, Field(ge=1, le=65535)] = 8443
    secret: SecretStr | None = None


class TelegramSettings(BaseModel):
    """``platforms.telegram``. The addresses are followed by the token and the method."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    #: auto: on when a token is set
    enabled: Literal["auto"] | bool = "auto"
    mode: Literal["polling", "webhook"] = "polling"
    base_url: Url = "https://api.telegram.org/bot"
    base_file_url: Url = "https://api.telegram.org/file/bot"
    webhook: WebhookSettings = WebhookSettings()


def split_tokens(secrets: Mapping[str, str]) -> list[str]:
    """Return the bot tokens of ``TELEGRAM_BOT_TOKEN``, which are separated by commas."""
    listed = secrets.get(TOKEN_VARIABLE, "").split(",")
    return [token.strip() for token in listed if token.strip()]


def account_of(token: str) -> str:
    """Return the bot's id, which is the part of its token before the colon."""
    return token.partition(":")[0]


def check(settings: Any, secrets: Mapping[str, str]) -> list[str]:
    """Return what keeps the adapter from starting, in words, without any part of a secret."""
    tokens = split_tokens(secrets)
    if not tokens:
        return [f"{TOKEN_VARIABLE} is not set: get a token from @BotFather and put it into .env"]
    problems = [
        f"{TOKEN_VARIABLE}: token {number} is not of the form 123456:ABC…; copy it again from "
        "@BotFather"
        for number, token in enumerate(tokens, 1)
        if not _TOKEN.fullmatch(token)
    ]
    bots = Counter(map(account_of, filter(_TOKEN.fullmatch, tokens)))
    problems += [
        f"{TOKEN_VARIABLE}: bot {bot} is listed {count} times; keep one token of each bot"
        for bot, count in bots.items()
        if count > 1
    ]
    if settings.mode == "webhook":
        problems += _webhook_problems(settings)
    return problems


def _webhook_problems(settings: TelegramSettings) -> list[str]:
    webhook, problems = settings.webhook, []
    if webhook.url is None:
        problems.append(
            "platforms.telegram.webhook.url is not set: give the public https address that "
            "Telegram is to post to, or set platforms.telegram.mode to polling"
        )
    elif webhook.url.startswith("http:") and settings.base_url.startswith(_OFFICIAL):
        problems.append(
            "platforms.telegram.webhook.url: Telegram posts to https addresses only; put a "
            "proxy with a certificate in front and give its address"
        )
    if webhook.secret and not _SECRET.fullmatch(webhook.secret.get_secret_value()):
        problems.append(
            "platforms.telegram.webhook.secret: Telegram takes 1 to 256 letters, digits, _ and "
            "-; leave it out to have one made"
        )
    return problems


def accounts(secrets: Mapping[str, str]) -> list[AccountId]:
    """Return the bots of the tokens that have a token's form."""
    return [
        AccountId(account_of(token)) for token in filter(_TOKEN.fullmatch, split_tokens(secrets))
    ]


MANIFEST = Manifest(
    name=TELEGRAM,
    capabilities=CAPABILITIES,
    settings=TelegramSettings,
    secrets=(TOKEN_VARIABLE,),
    service_accounts=SERVICE_ACCOUNTS,
    accounts=accounts,
    factory="adapters.telegram.adapter:create",
    probe="adapters.telegram.probe:probe",
    check=check,
)
