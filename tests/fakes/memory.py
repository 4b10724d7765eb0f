"""A memory service in the test's own hands: answers what it is told, counts what it is asked."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gateway.model.memory import BaseContext

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Mapping, Sequence

    from gateway.model.errors import MemoryServiceError
    from gateway.model.ids import LedgerKey, PeerId, SessionId
    from gateway.model.memory import (
        ContextQuery,
        DialecticQuestion,
        Excerpt,
        MemoryMessage,
        Observation,
    )


@dataclass(slots=True)
class FakeMemory:
    """A ``gateway.ports.Memory``. ``error`` fails every call; ``gate`` holds every read."""

    known: BaseContext = field(default_factory=BaseContext)
    answers: list[str] = field(default_factory=list)
    error: MemoryServiceError | None = None
    gate: asyncio.Event | None = None
    calls: Counter[str] = field(default_factory=Counter)
    contexts: list[ContextQuery] = field(default_factory=list)
    questions: list[DialecticQuestion] = field(default_factory=list)
    cards: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    rows: dict[str, list[MemoryMessage]] = field(default_factory=dict)

    async def _called(self, name: str) -> None:
        self.calls[name] += 1
        if self.gate is not None:
            await self.gate.wait()
        if self.error is not None:
            raise self.error

    async def context(self, query: ContextQuery) -> BaseContext:
        self.contexts.append(query)
        await self._called("context")
        return self.known

    async def ask(self, question: DialecticQuestion, *, timeout: float) -> str:
        self.questions.append(question)
        await self._called("ask")
        return self.answers.pop(0) if self.answers else ""

    async def card(self, observer: PeerId, observed: PeerId) -> tuple[str, ...]:
        await self._called("card")
        return self.cards.get((observer, observed), ())

    async def set_card(self, observer: PeerId, observed: PeerId, facts: Sequence[str]) -> None:
        await self._called("set_card")
        self.cards[observer, observed] = tuple(facts)

    async def open_session(
        self, session: SessionId, peers: Mapping[PeerId, Observation]
    ) -> Mapping[PeerId, Observation]:
        await self._called("open_session")
        return peers

    async def add(self, session: SessionId, messages: Sequence[MemoryMessage]) -> None:
        await self._called("add")
        self.rows.setdefault(session, []).extend(messages)

    async def stored(self, session: SessionId, keys: Sequence[LedgerKey]) -> frozenset[LedgerKey]:
        await self._called("stored")
        return frozenset(row.key for row in self.rows.get(session, ())) & frozenset(keys)

    async def delete_session(self, session: SessionId) -> None:
        await self._called("delete_session")
        self.rows.pop(session, None)

    async def search(
        self, words: str, *, peer: PeerId | None, session: SessionId | None, limit: int
    ) -> list[Excerpt]:
        await self._called("search")
        return []

    async def conclude(
        self, observer: PeerId, observed: PeerId, text: str, session: SessionId | None
    ) -> str:
        await self._called("conclude")
        return "c1"

    async def conclusions(
        self, observer: PeerId, observed: PeerId, *, limit: int = 50
    ) -> list[tuple[str, str]]:
        await self._called("conclusions")
        return []

    async def forget_conclusion(self, observer: PeerId, observed: PeerId, id_: str) -> None:
        await self._called("forget_conclusion")

    async def agents(self) -> Mapping[str, PeerId]:
        await self._called("agents")
        return {}

    async def register_agent(self, agent: str, peer: PeerId) -> None:
        await self._called("register_agent")

    async def pending(self) -> int:
        await self._called("pending")
        return 0

    async def aclose(self) -> None:
        await self._called("aclose")
