"""The memory service as commands see it: where it is, and asking it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

from gateway.cli.common import MISUSED, fail

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from gateway.ports import Memory
    from gateway.settings.honcho_schema import HonchoSettings
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


def ask(
    configuration: Loaded,
    question: Callable[[Memory], Awaitable[T]],
    *,
    honcho: HonchoSettings | None = None,
) -> T:
    """Put a question to the configured Honcho, or to another. Raises ``MemoryServiceError``."""
    from gateway.memory.clients import endpoint_of
    from gateway.memory.honcho import HonchoMemory
    from gateway.ops import logs
    from gateway.ops.clock import SystemClock
    from gateway.settings.schema import LogSettings

    logs.configure(LogSettings(level="warning"), logs.secrets_of(configuration))
    endpoint = endpoint_of(honcho or configuration.honcho)

    async def put() -> T:
        memory = HonchoMemory(lambda: endpoint, SystemClock())
        try:
            return await question(memory)
        finally:
            await memory.aclose()

    return asyncio.run(put())


def needs_service(configuration: Loaded) -> None:
    """End the command with the remedy where the configuration names no service."""
    from gateway.settings.read import needs_service_problem

    if problem := needs_service_problem(configuration):
        fail(problem, MISUSED)
    if service_of(configuration) == DISABLED:
        fail("the memory service is disabled: hermes-gateway honcho enable", MISUSED)
