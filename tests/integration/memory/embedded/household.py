"""A running embedded service, and clients for it, in one event loop."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import honcho
import httpx

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from gateway.memory.embedded.serve import EmbeddedService
    from gateway.store.engine import Store
    from tests.fakes.clock import FakeClock

Json = dict[str, Any]

WORKSPACE = "home"


@dataclass(slots=True)
class Household:
    """The service with its store and clock, the official client, and a plain one."""

    service: EmbeddedService
    store: Store
    clock: FakeClock
    url: str
    client: honcho.Honcho
    raw: httpx.AsyncClient

    async def post(self, path: str, body: object = None, **query: Any) -> httpx.Response:
        return await self.raw.post(path, json=body, params=query)

    async def get(self, path: str, **query: Any) -> httpx.Response:
        return await self.raw.get(path, params=query)

    async def say(self, session: str, *said: tuple[str, str], **more: Any) -> list[Any]:
        """Store messages, pairs of peer and text, and return them."""
        messages = [{"peer_id": peer, "content": text, **more} for peer, text in said]
        answer = await self.post(f"sessions/{session}/messages", {"messages": messages})
        assert answer.status_code == 201, answer.text
        return list(answer.json())

    async def knows(self, observer: str, observed: str) -> str:
        """Return what ``observer`` knows of ``observed``."""
        path = f"peers/{observer}/representation"
        answer = await self.post(path, {"target": observed, "max_conclusions": 100})
        return str(answer.json()["representation"])

    async def until(self, reached: Callable[[], Awaitable[bool]]) -> None:
        """Ask again until ``reached()``; raises ``TimeoutError``."""
        async with asyncio.timeout(20):
            while not await reached():  # noqa: ASYNC110  (what is waited for is on a server)
                await asyncio.sleep(0.01)

    async def stored(self, session: str = "s1") -> list[Json]:
        """Return all messages of a session."""
        found: list[Json] = []
        while True:
            page = len(found) // 100 + 1
            path = f"sessions/{session}/messages/list"
            listed = (await self.post(path, {}, size=100, page=page)).json()
            found += listed["items"]
            if page >= listed["pages"]:
                return found

    async def close(self) -> None:
        await self.raw.aclose()
        await close(self.client)


def client(url: str, key: str, **options: Any) -> honcho.Honcho:
    """Return the official client as the gateway makes it."""
    defaults = {"workspace_id": WORKSPACE, "timeout": 30, "max_retries": 0}
    return honcho.Honcho(base_url=url, api_key=key, **{**defaults, **options})


async def close(made: honcho.Honcho) -> None:
    """Close both connections of an official client, which has no way to do so itself."""
    await made._async_http_client.close()
    made._http.close()


def plain(url: str, key: str) -> httpx.AsyncClient:
    """Return a plain client whose paths begin in the workspace."""
    return httpx.AsyncClient(
        base_url=f"{url}/v3/workspaces/{WORKSPACE}/",
        headers={"Authorization": f"Bearer {key}"},
        timeout=30,
        trust_env=False,
    )
