"""Asks Telegram whose the tokens are, before they are saved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.telegram.client import Client
from adapters.telegram.manifest import split_tokens

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adapters.telegram.manifest import TelegramSettings


async def probe(settings: TelegramSettings, secrets: Mapping[str, str]) -> list[str]:
    """See ``Manifest.probe``."""
    return [await _name(token, settings) for token in split_tokens(secrets)]


async def _name(token: str, settings: TelegramSettings) -> str:
    client = Client(token, settings)
    try:
        return f"@{(await client.get_me()).username}"
    finally:
        await client.aclose()
