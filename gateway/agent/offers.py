"""Which models there are to choose from: asked when somebody chooses, never while one answers."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import httpx

from gateway.agent.choice import LOOPBACK, list_models

if TYPE_CHECKING:
    from collections.abc import Mapping

#: seconds for a server that somebody named
_PATIENCE = 5.0
_GLANCE = 0.5
#: never asked through a proxy
_NEARBY = ("localhost", "127.0.0.1", "::1")


async def on_loopback(servers: Mapping[str, str] = LOOPBACK) -> dict[str, list[str]]:
    """Return the addresses at which a server answers on this machine, with what it lists."""
    async with httpx.AsyncClient(trust_env=False, timeout=_GLANCE) as client:
        listed = await asyncio.gather(*(list_models(client, url) for url in servers.values()))
    return {
        url: models
        for url, models in zip(servers.values(), listed, strict=True)
        if models is not None
    }


async def models_at(base_url: str, key: str) -> list[str] | None:
    """Return what an OpenAI-compatible server lists, None where none answers."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    nearby = httpx.URL(base_url).host in _NEARBY
    async with httpx.AsyncClient(
        headers=headers, timeout=_PATIENCE, trust_env=not nearby
    ) as client:
        return await list_models(client, base_url)
