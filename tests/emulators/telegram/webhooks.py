"""Delivery to webhooks: one update at a time, again and again until it is answered with 2xx.

Left out: that Telegram waits longer after each failure, and gives up after a day.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import aiohttp

from tests.emulators.telegram.errors import ApiError

if TYPE_CHECKING:
    from tests.emulators.telegram.world import Bot

Json = dict[str, Any]

#: seconds between two tries of one update
RETRY = 0.05
_HEADER = "X-Telegram-Bot-Api-Secret-Token"
_TIMEOUT = aiohttp.ClientTimeout(total=5.0)


@dataclass(slots=True)
class Webhook:
    """Where a bot's updates go, and the last trouble with it."""

    url: str
    secret: str
    error: str = ""
    #: Unix seconds; 0 while nothing went wrong
    error_at: int = 0


class Webhooks:
    """The deliveries that run; they end with the server and go on when it is back."""

    def __init__(self) -> None:
        self._running: dict[int, tuple[Bot, asyncio.Task[None]]] = {}
        self._paused: list[Bot] = []

    def set(self, bot: Bot, url: str, secret: str) -> None:
        """Deliver a bot's updates to ``url`` from now on; "" ends that."""
        self._cancel(bot)
        bot.webhook = Webhook(url, secret) if url else None
        if url:
            bot.updates.end_poll(ApiError(409, "Conflict: terminated by setWebhook request"))
            self._begin(bot)

    def resume(self) -> None:
        """Go on with what ``pause`` ended."""
        while self._paused:
            self._begin(self._paused.pop())

    async def pause(self) -> None:
        """End every delivery; the webhooks stay set."""
        tasks = [task for _, task in self._running.values()]
        self._paused += [bot for bot, _ in self._running.values()]
        for bot in list(self._paused):
            self._cancel(bot)
        await asyncio.gather(*tasks, return_exceptions=True)

    def _begin(self, bot: Bot) -> None:
        task = asyncio.create_task(_deliver(bot), name=f"webhook of {bot.id}")
        self._running[bot.id] = bot, task

    def _cancel(self, bot: Bot) -> None:
        if bot.id in self._running:
            self._running.pop(bot.id)[1].cancel()


async def _deliver(bot: Bot) -> None:
    offset = 0
    async with aiohttp.ClientSession(timeout=_TIMEOUT) as session:
        while bot.webhook is not None:
            for update in await bot.updates.poll(offset, 1, 60.0):
                while not await _post(session, bot.webhook, update):  # noqa: ASYNC110  (retries)
                    await asyncio.sleep(RETRY)
                offset = max(offset, update["update_id"] + 1)
                bot.updates.confirm(offset)


async def _post(session: aiohttp.ClientSession, webhook: Webhook, update: Json) -> bool:
    headers = {_HEADER: webhook.secret} if webhook.secret else {}
    try:
        async with session.post(webhook.url, json=update, headers=headers) as answer:
            if 200 <= answer.status < 300:
                return True
            error = f"Wrong response from the webhook: {answer.status} {answer.reason}"
    except (aiohttp.ClientError, TimeoutError):
        error = "Connection refused"
    webhook.error, webhook.error_at = error, int(time.time())
    return False
