"""A home whose memory service is real; commands run beside the loop that serves."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from gateway.memory.clients import Endpoint
from gateway.memory.honcho import HonchoMemory
from gateway.memory.seed import seed_session
from gateway.model.ids import PeerId
from tests.fakes.clock import FakeClock
from tests.integration.cli import calls

if TYPE_CHECKING:
    from gateway.settings.home import Home

AGENT = PeerId("hermes")


class Server:
    """A service and the home that uses it; commands run beside the loop that serves."""

    def __init__(self, home: Home, url: str, key: str) -> None:
        self.url, self.key = url, key
        self.home = home
        self.memory = HonchoMemory(lambda: Endpoint(url, key, "house"), FakeClock())
        home.config.write_text("memory: {provider: honcho}\n")
        self.write(baseUrl=url, apiKey=key, workspace="house")

    def write(self, **keys: Any) -> None:
        (self.home.path / "honcho.json").write_text(json.dumps(keys))

    async def run(self, *words: str, code: int = 0) -> str:
        return await asyncio.to_thread(calls.run, *words, code=code)

    async def data(self, *words: str) -> Any:
        return await asyncio.to_thread(calls.data, *words)

    async def seeds(self) -> list[str]:
        """Return what the agent's session holds."""
        found = await self.memory.search("rover", peer=None, session=self.session, limit=9)
        return [one.text for one in found]

    @property
    def session(self) -> Any:
        return seed_session("hermes", AGENT)
