"""What only the other side can say: whether a token is taken, a service answers, a model is there.

Each is one short attempt of the very clients that the gateway uses.
"""

from __future__ import annotations

import asyncio
import importlib
from typing import TYPE_CHECKING, Any

from gateway.agent import offers
from gateway.memory.clients import ENVIRONMENTS, Endpoint
from gateway.memory.honcho import HonchoMemory
from gateway.model.errors import MemoryServiceError, PlatformError
from gateway.ops.clock import SystemClock

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gateway.ports import Manifest

#: seconds for the memory service, whatever ``timeout`` says
_PATIENCE = 10.0


def bots(manifest: Manifest, settings: Any, secrets: Mapping[str, str]) -> list[str]:
    """Return the names of the bots that the tokens are for. Raises ``PlatformError``."""
    if not manifest.probe:
        return []
    module, _, function = manifest.probe.partition(":")
    probe = getattr(importlib.import_module(module), function)

    async def ask() -> list[str]:
        try:
            async with asyncio.timeout(_PATIENCE):
                return list(await probe(settings, secrets))
        except TimeoutError:
            raise PlatformError(f"{manifest.name} did not answer in time") from None

    return asyncio.run(ask())


def memory(url: str, key: str, workspace: str) -> None:
    """Ask the memory service for the workspace, which it makes. Raises ``MemoryServiceError``."""
    endpoint = Endpoint(url or ENVIRONMENTS["production"], key, workspace, _PATIENCE)

    async def ask() -> None:
        service = HonchoMemory(lambda: endpoint, SystemClock())
        try:
            await service.agents()
        finally:
            await service.aclose()

    asyncio.run(ask())


def servers() -> dict[str, list[str]]:
    """Return the addresses of model servers that answer on this machine, with their models."""
    return asyncio.run(offers.on_loopback())


def models(url: str, key: str) -> list[str] | None:
    """Return the models of a server, None where none answers."""
    return asyncio.run(offers.models_at(url, key))


__all__ = ["MemoryServiceError", "PlatformError", "bots", "memory", "models", "servers"]
