"""A whole gateway whose memory service is real, and asked through a proxy that counts."""

from __future__ import annotations

import asyncio
import shutil
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import httpx

from gateway import app
from gateway.agent.choice import Choice, Kind
from gateway.agent.models import HostedModels
from gateway.agent.prompt import Persona
from gateway.agent.run import ModelAgent
from gateway.agent.tools import adapt
from gateway.memory.embedded.serve import EmbeddedService
from gateway.store.sqlite import SqliteStore
from tests.emulators.honcho_proxy import HonchoProxy
from tests.fakes.agent import ScriptedAgent
from tests.fakes.clock import FakeClock
from tests.fakes.household import MIRA, TOBIAS
from tests.integration.pipeline.support import House

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from gateway.memory.embedded.deriver import Deriver
    from gateway.ports import Agent, AgentTool
    from tests.emulators.openai import ModelStub
    from tests.emulators.telegram import TelegramEmulator

Json = dict[str, Any]

WORKSPACE = "household"
ALIASES = {f"telegram:{MIRA}": "mira", f"telegram:{TOBIAS}": "tobias"}
#: states of ledger rows on their way to the service
OPEN = ("held", "due", "sending")


class HeldClock(FakeClock):
    """Stands still while ``held``, but for ``let_pass``."""

    held = False

    async def advance(self, seconds: float) -> None:
        """See ``FakeClock``; nothing while the time is held."""
        if not self.held:
            await FakeClock.advance(self, seconds)

    async def let_pass(self, seconds: float) -> None:
        """Let time pass that is held otherwise."""
        await FakeClock.advance(self, seconds)


@dataclass(frozen=True, slots=True)
class Upstream:
    """The memory service itself and what stands before it."""

    proxy: HonchoProxy
    url: str
    key: str


class Whole(House):
    """A home with provider honcho; two people with names."""

    def __init__(
        self,
        folder: Path,
        tg: TelegramEmulator,
        service: Upstream,
        *,
        database: Path,
        model: ModelStub | None = None,
    ) -> None:
        """``model``: answers instead of a script, and sees what a model would."""
        super().__init__(folder, tg, ScriptedAgent())
        self.service = service
        self.proxy = service.proxy
        self.clock: HeldClock = HeldClock(datetime.now(UTC))
        self._model = model
        self.home.gateway.mkdir(mode=0o700)
        shutil.copy(database, self.home.database)
        self.honcho()

    def configure(self, *, access: Json | None = None, **sections: Any) -> None:
        """Write config.yaml as ``Household`` does, for this service."""
        rate = {"rate": {"per_minute": 1000}, **(access or {})}
        super().configure(access=rate, **{"memory": {"provider": "honcho"}, **sections})

    def honcho(self, **keys: Any) -> None:
        """Write honcho.json with the usual keys and these."""
        usual = {
            "baseUrl": self.proxy.address,
            "apiKey": self.service.key,
            "workspace": WORKSPACE,
            "timeout": 1,
            "userPeerAliases": ALIASES,
        }
        super().honcho(**{**usual, **keys})

    def assemble(self, *, platforms: bool = True) -> app.Gateway:
        """Put a gateway together whose model has its tools."""
        start = app.Start(
            self.home,
            app.load(self.home, {}),
            self._agent,
            platforms=platforms,
            clock=self.clock,
        )
        return app.assemble(start)

    def _agent(self, tools: Sequence[AgentTool]) -> Agent:
        if self._model is None:
            return self.agent
        choice = Choice(Kind.OPENAI, name="stub-model", base_url=self._model.base_url)
        source = HostedModels([choice], {"OPENAI_API_KEY": "sk-test-key"})
        return ModelAgent(source, Persona(), tools=adapt(tools))

    # --- what is said -------------------------------------------------------------------------

    async def ask(self, text: str, *, user: int = MIRA, chat: int | None = None) -> None:
        """Say something and wait until all that follows from it is done."""
        before = self.committed()
        self.tg.say(text, user=user, chat=chat)
        await self.until_committed(before + 1)
        await self.settled()

    def committed(self) -> int:
        """Return how many answers were committed."""
        return len(self.column("SELECT id FROM checkpoint WHERE step = 'answered'"))

    async def until_committed(self, count: int) -> None:
        """Wait until so many answers are committed."""
        await self.until(lambda: self.committed() >= count, f"{count} answers", timeout=15.0)

    async def settled(self) -> None:
        """Wait until nothing is left to do, the memory service included."""
        await self.until(
            lambda: not self.live() and not self.tg.pending(), "settled", timeout=20.0
        )

    async def saved(self, timeout: float = 30.0) -> None:
        """Let time pass until every row of the ledger is settled."""
        async with asyncio.timeout(timeout):
            while any(state in OPEN for state in self.column("SELECT state FROM ledger")):
                await self.clock.let_pass(5.0)
                await asyncio.sleep(0.02)

    # --- what the service has -------------------------------------------------------------------

    def direct(self) -> httpx.AsyncClient:
        """Return a client that asks the service behind the proxy; paths begin in the workspace."""
        return httpx.AsyncClient(
            base_url=f"{self.service.url}/v3/workspaces/{WORKSPACE}/",
            headers={"Authorization": f"Bearer {self.service.key}"},
            trust_env=False,
        )

    async def stored(self) -> dict[str, list[tuple[str, str]]]:
        """Return (peer, text) of all that the service holds, by session, in its order."""
        async with self.direct() as client:
            listed = await client.post("sessions/list", params={"size": 100}, json={})
            found = {}
            for session in listed.json().get("items", ()):
                path = f"sessions/{session['id']}/messages/list"
                answer = await client.post(path, params={"size": 100}, json={})
                found[session["id"]] = [
                    (item["peer_id"], item["content"]) for item in answer.json()["items"]
                ]
            return found


@asynccontextmanager
async def upstream(
    folder: Path, database: Path, deriver: Deriver | None = None
) -> AsyncIterator[Upstream]:
    """Serve a memory service on a database of its own, with a proxy before it."""
    path = folder / "service.db"
    shutil.copy(database, path)
    store = SqliteStore(path)
    served = EmbeddedService(store, FakeClock(datetime.now(UTC)), deriver)
    try:
        url = await served.start()
        async with HonchoProxy(url) as proxy:
            yield Upstream(proxy, url, served.key)
    finally:
        await served.stop()
        await store.close()
