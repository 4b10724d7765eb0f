"""What the core wants of a memory service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gateway.model.ids import (
        LedgerKey,
        PeerId,
        SessionId,
    )
    from gateway.model.memory import (
        BaseContext,
        ContextQuery,
        DialecticQuestion,
        Excerpt,
        MemoryMessage,
        Observation,
    )


class Memory(Protocol):
    """A memory service: one workspace of a hosted, self-hosted or embedded Honcho.

    Every method raises ``MemoryServiceError`` only. None of them tries again by itself.
    """

    async def open_session(
        self, session: SessionId, peers: Mapping[PeerId, Observation]
    ) -> Mapping[PeerId, Observation]:
        """Make sure that session and members exist; return the flags as the service has them.

        Flags of members that exist already are left as they are: the service's own win.
        """
        ...

    async def add(self, session: SessionId, messages: Sequence[MemoryMessage]) -> None:
        """Store 1 to 100 messages in this order, all or none.

        ``MemoryAmbiguousError``: they may have been stored; ask ``stored`` before trying again.
        """
        ...

    async def stored(self, session: SessionId, keys: Sequence[LedgerKey]) -> frozenset[LedgerKey]:
        """Return which of ``keys`` the session holds, read from the service's database."""
        ...

    async def delete_session(self, session: SessionId) -> None:
        """Delete a session with all that is known from it alone; nothing where there is none.

        A hosted service may take some time over it. The name cannot be used again.
        """
        ...

    async def context(self, query: ContextQuery) -> BaseContext:
        """Return the base context."""
        ...

    async def ask(self, question: DialecticQuestion, *, timeout: float) -> str:
        """Return the dialectic answer, "" where nothing is known."""
        ...

    async def card(self, observer: PeerId, observed: PeerId) -> tuple[str, ...]:
        """Return the card that ``observer`` keeps of ``observed``."""
        ...

    async def set_card(self, observer: PeerId, observed: PeerId, facts: Sequence[str]) -> None:
        """Replace that card."""
        ...

    async def search(
        self, words: str, *, peer: PeerId | None, session: SessionId | None, limit: int
    ) -> list[Excerpt]:
        """Return stored messages that match, said by ``peer`` or in ``session`` where given."""
        ...

    async def conclude(
        self, observer: PeerId, observed: PeerId, text: str, session: SessionId | None
    ) -> str:
        """Store a conclusion and return its id."""
        ...

    async def conclusions(
        self, observer: PeerId, observed: PeerId, *, limit: int = 50
    ) -> list[tuple[str, str]]:
        """Return (id, text) of the newest conclusions of a pair."""
        ...

    async def forget_conclusion(self, observer: PeerId, observed: PeerId, id_: str) -> None:
        """Delete one conclusion of a pair."""
        ...

    async def agents(self) -> Mapping[str, PeerId]:
        """Return the map agent → peer that the workspace's metadata holds."""
        ...

    async def register_agent(self, agent: str, peer: PeerId) -> None:
        """Add one agent to that map; everything else in the metadata stays."""
        ...

    async def pending(self) -> int:
        """Return how many messages the service has still to think about; also a health check."""
        ...

    async def aclose(self) -> None:
        """Release connections."""
        ...
