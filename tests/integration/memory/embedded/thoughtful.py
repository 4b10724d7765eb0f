"""An embedded service that thinks: with durable lanes, a scripted model and an encoder."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gateway.agent.choice import Choice, Kind
from gateway.agent.complete import ModelCompleter
from gateway.agent.models import HostedModels
from gateway.mailbox.embedded import EmbeddedEngine
from gateway.memory.embedded.mind import Faculties
from gateway.memory.embedded.serve import EmbeddedService
from tests.eval import stub
from tests.eval.service import HurriedClock
from tests.integration.memory.embedded.household import Household, client, plain

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from gateway.ports import Completer, Embedder
    from gateway.store.engine import Store
    from tests.emulators.openai import ModelStub

Json = dict[str, Any]


@dataclass(slots=True)
class Thoughtful(Household):
    """A household whose service has something to think with."""

    busy: bool = False

    async def thought(self) -> None:
        """Wait until nothing waits to be thought about."""

        async def done() -> bool:
            status = (await self.get("queue/status")).json()
            return not status["pending_work_units"] + status["in_progress_work_units"]

        await self.until(done)

    async def concluded(self, observer: str = "ann", observed: str = "ann") -> list[str]:
        """Return what one concluded about another, oldest first."""
        body = {"filters": {"observer_id": observer, "observed_id": observed}}
        listed = (await self.post("conclusions/list", body, size=100)).json()
        return [each["content"] for each in listed["items"]][::-1]

    async def card(self, observer: str = "ann", observed: str = "ann") -> list[str] | None:
        """Return a card."""
        answer = await self.get(f"peers/{observer}/card", target=observed)
        card: list[str] | None = answer.json()["peer_card"]
        return card

    async def ask(self, query: str, level: str = "low", **more: Any) -> str | None:
        """Ask ann about herself."""
        body = {"query": query, "reasoning_level": level, **more}
        content: str | None = (await self.post("peers/ann/chat", body)).json()["content"]
        return content

    async def join(self, session: str, **observing: bool) -> None:
        """Let peers take part; a value says whether they observe the others."""
        peers = {name: {"observe_others": watching} for name, watching in observing.items()}
        assert (await self.post("sessions", {"id": session, "peers": peers})).is_success


@asynccontextmanager
async def thoughtful(
    store: Store,
    *,
    completer: Completer | None = None,
    embedder: Embedder | None = None,
    calls_per_hour: int = 1000,
    haste: float = 200.0,
) -> AsyncIterator[Thoughtful]:
    """Serve one on a store; time passes in a hurry."""
    clock = HurriedClock(haste)
    engine = EmbeddedEngine(store, clock)
    made: Thoughtful | None = None
    lent = Faculties(
        engine,
        completer,
        embedder,
        calls_per_hour=calls_per_hour,
        busy=lambda _conn: made is not None and made.busy,
    )
    service = EmbeddedService(store, clock, lent=lent)
    await engine.start(service.lanes)
    url = await service.start()
    key = service.key
    made = Thoughtful(service, store, clock, url, client(url, key), plain(url, key))  # type: ignore[arg-type]
    try:
        yield made
    finally:
        await made.close()
        await service.stop()
        await engine.stop(5.0)
        await lent.aclose()


def capable(model: ModelStub, *, here: bool = False) -> Completer:
    """Return a model that may think; ``here``: it runs on this machine and gives way."""
    model.reply(stub.answer)
    choice = Choice(Kind.OPENAI, name=model.models[0], base_url=model.base_url)
    source = HostedModels([choice], {})
    return ModelCompleter(source, choice.label, shares_machine=here, timeout=30.0)


def documents(model: ModelStub, name: str) -> list[Json]:
    """Return the documents of those requests that have a part of this name."""
    found = [json.loads(body["messages"][-1]["content"]) for body in model.requests]
    return [each for each in found if name in each]
