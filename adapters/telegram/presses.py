"""Telling Telegram that a pressed button was heard, once the press is durable. Best effort."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import structlog

from adapters.telegram.parse import PRESS
from gateway.model.errors import PlatformError
from gateway.model.events import EventKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from adapters.telegram.client import Client
    from gateway.ports import Received

log: structlog.stdlib.BoundLogger = structlog.get_logger()


class Presses:
    """Answers presses beside whatever receives them."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._answering: set[asyncio.Task[None]] = set()

    def heard(self, received: Iterable[Received]) -> None:
        """Answer the presses among updates that were stored. Returns at once."""
        for each in received:
            if each.event is not None and each.event.kind is EventKind.PRESS:
                press = each.event.message.removeprefix(PRESS)
                task = asyncio.create_task(self._answer(press))
                self._answering.add(task)
                task.add_done_callback(self._answering.discard)

    async def _answer(self, press: str) -> None:
        try:
            await self._client.answer_press(press)
        except PlatformError as error:
            log.info("telegram.press_unanswered", action="receive", why=error.code)

    async def aclose(self) -> None:
        """Answer no more."""
        for task in self._answering:
            task.cancel()
        await asyncio.gather(*self._answering, return_exceptions=True)
