"""Asks Discord whose the token is, before it is saved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.discord.client import Client
from adapters.discord.manifest import account_of, token_of
from gateway.model.ids import AccountId

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adapters.discord.manifest import DiscordSettings


async def probe(settings: DiscordSettings, secrets: Mapping[str, str]) -> list[str]:
    """See ``Manifest.probe``."""
    token = token_of(secrets)
    client = Client(token, account_of(token) or AccountId(""), settings.api_base)
    try:
        return [await client.name()]
    finally:
        await client.aclose()
