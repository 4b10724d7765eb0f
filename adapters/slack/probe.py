"""Asks Slack whose the tokens are, before they are saved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.slack.client import Client
from adapters.slack.manifest import APP_TOKEN, account_of, split_tokens

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adapters.slack.manifest import SlackSettings


async def probe(settings: SlackSettings, secrets: Mapping[str, str]) -> list[str]:
    """See ``Manifest.probe``. The app token opens a socket's address, which nobody then uses."""
    found = [await _team(token, settings) for token in split_tokens(secrets)]
    if settings.mode == "socket":
        app = Client(secrets.get(APP_TOKEN, "").strip(), settings.base_url)
        try:
            await app.open_socket()
        finally:
            await app.aclose()
    return found


async def _team(token: str, settings: SlackSettings) -> str:
    client = Client(token, settings.base_url)
    try:
        me = await client.whoami(account_of(token))
    finally:
        await client.aclose()
    return f"{me.user} in team {me.team}"
