"""The memory service as commands see it: where it is, and asking it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from gateway.ports import Memory
    from gateway.settings.read import Loaded

T = TypeVar("T")

EMBEDDED, DISABLED, NOT_SET_UP = NO_SERVICE = ("embedded", "disabled", "not set up")


def service_of(configuration: Loaded) -> str:
    """Return where the memory service is, or why there is none."""
    from gateway.memory.clients import endpoint_of

    honcho = configuration.honcho
    if configuration.settings.memory.provider != "honcho":
        return EMBEDDED
    if honcho.enabled is False:
        return DISABLED
    if not honcho.api_key and not honcho.base_url:
        return NOT_SET_UP
    return endpoint_of(honcho).base_url


def ask(configuration: Loaded, question: Callable[[Memory], Awaitable[T]]) -> T:
    """Put a question to the configured Honcho. Raises ``MemoryServiceError``."""
    from gateway.memory.clients import endpoint_of
    from gateway.memory.honcho import HonchoMemory
    from gateway.ops.clock import SystemClock

    endpoint = endpoint_of(configuration.honcho)

    async def put() -> T:
        memory = HonchoMemory(lambda: endpoint, SystemClock())
        try:
            return await question(memory)
        finally:
            await memory.aclose()

    return asyncio.run(put())
