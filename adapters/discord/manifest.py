"""What is known of Discord without its library: limits, settings, secrets, faults of both."""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict

from adapters.discord.render import size
from gateway.model.capabilities import Capabilities, Resend
from gateway.model.ids import AccountId, PlatformName
from gateway.ports import Manifest
from gateway.settings.kinds import Url  # noqa: TC001  (pydantic reads it at run time)

if TYPE_CHECKING:
    from collections.abc import Mapping

DISCORD = PlatformName("discord")
TOKEN_VARIABLE = "DISCORD_BOT_TOKEN"  # noqa: S105  (the variable's name)

CAPABILITIES = Capabilities(
    max_length=2000,
    length_unit="points",
    resend=Resend.IDEMPOTENT,
    preview=True,
    typing=True,
    buttons=True,
    # Discord shows it for ten seconds.
    typing_seconds=8.0,
    # Discord's apps refuse to send more than 2000 characters instead of cutting them.
    paste_limit=0,
    # What every server and direct message takes; boosted servers take more.
    max_upload=10 << 20,
    measure=size,
)

_TOKEN = re.compile(r"([A-Za-z0-9_-]{2,})\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")


class DiscordSettings(BaseModel):
    """``platforms.discord``: addresses for those behind a proxy."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    #: auto: on when a token is set
    enabled: Literal["auto"] | bool = "auto"
    api_base: Url = "https://discord.com/api/v10"
    gateway_url: Url = "wss://gateway.discord.gg/"


def token_of(secrets: Mapping[str, str]) -> str:
    """Return the bot token, "" when there is none."""
    return secrets.get(TOKEN_VARIABLE, "").strip()


def account_of(token: str) -> AccountId | None:
    """Return the bot's id, which is the first of a token's three parts; None: no token's form."""
    match = _TOKEN.fullmatch(token)
    if match is None:
        return None
    head = match[1]
    try:
        decoded = base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)).decode("ascii")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return AccountId(decoded) if decoded.isdecimal() else None


def check(settings: Any, secrets: Mapping[str, str]) -> list[str]:
    """Return what keeps the adapter from starting, in words, without any part of a secret."""
    token = token_of(secrets)
    if not token:
        return [
            f"{TOKEN_VARIABLE} is not set: make a bot at https://discord.com/developers and put "
            "its token into .env"
        ]
    problems = []
    if account_of(token) is None:
        problems.append(
            f"{TOKEN_VARIABLE} does not have a token's form (three parts with dots between "
            "them): copy it again from the page Bot of your application, without the word Bot"
        )
    if not settings.api_base.startswith(("http://", "https://")):
        problems.append("platforms.discord.api_base: must begin with https:// or http://")
    if not settings.gateway_url.startswith(("ws://", "wss://")):
        problems.append("platforms.discord.gateway_url: must begin with wss:// or ws://")
    return problems


def accounts(secrets: Mapping[str, str]) -> list[AccountId]:
    """Return the bot of the token, if it has a token's form."""
    account = account_of(token_of(secrets))
    return [] if account is None else [account]


MANIFEST = Manifest(
    name=DISCORD,
    capabilities=CAPABILITIES,
    settings=DiscordSettings,
    secrets=(TOKEN_VARIABLE,),
    accounts=accounts,
    factory="adapters.discord.adapter:create",
    probe="adapters.discord.probe:probe",
    check=check,
)
