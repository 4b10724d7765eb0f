"""Unmodified slack-sdk and Bolt clients for the emulated Slack."""

from __future__ import annotations

import logging
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from tests.emulators.slack import APP_TOKEN, SIGNING_SECRET, TOKEN, SlackEmulator

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

#: these libraries report each planned fault as an error with its trace
QUIET = logging.getLogger("tests.slack")
QUIET.setLevel(logging.CRITICAL)


@asynccontextmanager
async def slack_with_a_bot() -> AsyncIterator[SlackEmulator]:
    """Give an emulator with one team in which the app is installed."""
    async with SlackEmulator() as emulator:
        emulator.bot()
        emulator.delivery.ack_seconds = 0.5
        emulator.delivery.retry_seconds = (0.0, 0.05, 0.1)
        yield emulator


def web_client(slack: SlackEmulator, token: str = TOKEN) -> AsyncWebClient:
    """Return a client that repeats nothing."""
    return AsyncWebClient(token, slack.base_url, retry_handlers=[], logger=QUIET)


def bolt(slack: SlackEmulator, heard: list[dict[str, Any]]) -> AsyncApp:
    """Return a Bolt app that collects messages and mentions."""
    app = AsyncApp(client=web_client(slack), signing_secret=SIGNING_SECRET, logger=QUIET)

    @app.event("message")
    async def message(event: dict[str, Any]) -> None:
        heard.append(event)

    @app.event("app_mention")
    async def mention(event: dict[str, Any]) -> None:
        heard.append(event)

    return app


@asynccontextmanager
async def socket_mode(slack: SlackEmulator, app: AsyncApp) -> AsyncIterator[Any]:
    """Connect a Bolt app by Socket Mode and give its handler."""
    handler: Any = AsyncSocketModeHandler(app, APP_TOKEN, logger=QUIET, ping_interval=0.2)
    await handler.connect_async()
    await slack.wait_for_sockets()
    try:
        yield handler
    finally:
        await handler.close_async()
