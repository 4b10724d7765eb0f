"""The memory service that is evaluated: the embedded one with a model of choice, or any Honcho."""

from __future__ import annotations

import asyncio
import tempfile
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

from gateway.agent.build import build_completer
from gateway.agent.choice import Choice, Kind
from gateway.mailbox.embedded import EmbeddedEngine
from gateway.memory.embedded import costs
from gateway.memory.embedded.mind import Faculties
from gateway.memory.embedded.serve import EmbeddedService
from gateway.settings.schema import ModelSettings
from gateway.store import migrate
from gateway.store.sqlite import SqliteStore
from tests.emulators.openai import ModelStub
from tests.eval import stub
from tests.eval.scoring import AGENT

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from gateway.ports import Completer, Embedder
    from tests.eval.scoring import Question, Session

WORKSPACE = "eval"
#: how much faster the pauses between batches pass here
_HASTE = 200
#: no bound: an evaluation is asked for
_CALLS = 1_000_000


class HurriedClock:
    """Real time, made to pass faster."""

    def __init__(self, haste: float = _HASTE) -> None:
        self._haste = haste
        self._began = time.monotonic()
        self._start = datetime.now(UTC).replace(minute=0, second=0)

    def now(self) -> datetime:
        """See ``gateway.ports.Clock``."""
        return self._start + timedelta(seconds=self.monotonic() - self._began)

    def monotonic(self) -> float:
        """See ``gateway.ports.Clock``."""
        return self._began + (time.monotonic() - self._began) * self._haste

    async def sleep(self, seconds: float) -> None:
        """See ``gateway.ports.Clock``."""
        await asyncio.sleep(max(seconds, 0.0) / self._haste)


@dataclass(slots=True)
class Service:
    """A memory service, told and asked over its API."""

    client: httpx.AsyncClient
    #: seconds that it may take to think about all it was told
    patience: float
    store: SqliteStore | None = None

    async def tell(self, session: Session) -> None:
        """Open a session where everybody listens as in a gateway, and say its lines."""
        peers = {who: {"observe_me": True, "observe_others": False} for who in session.people}
        peers[AGENT] = {"observe_me": False, "observe_others": True}
        await self._post("sessions", {"id": session.id, "peers": peers})
        messages = [
            {
                "peer_id": who,
                "content": text,
                "created_at": (session.at + timedelta(minutes=number))
                .replace(tzinfo=UTC)
                .isoformat(),
            }
            for number, (who, text) in enumerate(session.lines)
        ]
        await self._post(f"sessions/{session.id}/messages", {"messages": messages})

    async def settled(self) -> None:
        """Wait until everything was thought about. Raises ``TimeoutError``."""
        async with asyncio.timeout(self.patience):
            while True:
                status = (await self.client.get("queue/status")).json()
                if not status["pending_work_units"] + status["in_progress_work_units"]:
                    return
                await asyncio.sleep(0.05)

    async def ask(self, question: Question, level: str) -> str:
        """Ask the agent about somebody; "" where it knows nothing."""
        body = {"query": question.ask, "target": question.about, "reasoning_level": level}
        answer = await self._post(f"peers/{AGENT}/chat", body)
        return answer["content"] or ""

    async def cost(self) -> dict[str, Any]:
        """Return calls and tokens by kind, where this service counts them."""
        if self.store is None:
            return {}
        return await self.store.read(
            lambda conn: costs.spent(conn, datetime(2000, 1, 1, tzinfo=UTC))
        )

    async def _post(self, path: str, body: dict[str, Any]) -> Any:
        answer = await self.client.post(path, json=body)
        answer.raise_for_status()
        return answer.json()


@asynccontextmanager
async def honcho(url: str, key: str) -> AsyncIterator[Service]:
    """Ask a running service, in a workspace of its own."""
    async with _client(url, key, f"{WORKSPACE}-{int(time.time())}") as client:
        yield Service(client, patience=3600.0)


@asynccontextmanager
async def embedded(
    completer: Completer | None = None, embedder: Embedder | None = None
) -> AsyncIterator[Service]:
    """Serve the embedded service on a database that goes afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        store, clock = SqliteStore(Path(folder) / "eval.db"), HurriedClock()
        migrate.upgrade(store.engine)
        engine = EmbeddedEngine(store, clock)
        lent = Faculties(engine, completer, embedder, calls_per_hour=_CALLS)
        service = EmbeddedService(store, clock, lent=lent)
        await engine.start(service.lanes)
        url = await service.start()
        try:
            async with _client(url, service.key, WORKSPACE) as client:
                yield Service(client, patience=3600.0, store=store)
        finally:
            await service.stop()
            await engine.stop(5.0)
            await lent.aclose()
            await store.close()


@asynccontextmanager
async def scripted() -> AsyncIterator[Completer]:
    """Give the scripted model behind a real server, asked as any other."""
    async with ModelStub() as model:
        model.reply(stub.answer)
        choice = Choice(Kind.OPENAI, name=model.models[0], base_url=model.base_url)
        completer = build_completer(choice, ModelSettings(), {})
        assert completer is not None
        yield completer


def _client(url: str, key: str, workspace: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        base_url=f"{url.rstrip('/')}/v3/workspaces/{workspace}/",
        headers={"Authorization": f"Bearer {key}"} if key else {},
        timeout=300,
        trust_env=False,
    )
