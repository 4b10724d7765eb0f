"""What the service may think with, put together from what the gateway has."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gateway.memory.embedded.costs import Meter
from gateway.memory.embedded.minds import ByModel
from gateway.memory.embedded.ranking import ByWords, Fused
from gateway.memory.embedded.rules import ByRule
from gateway.memory.embedded.thinking import Thinking
from gateway.memory.embedded.vectors import Vectors

if TYPE_CHECKING:
    from collections.abc import Callable

    from gateway.memory.embedded.deriver import Deriver
    from gateway.memory.embedded.ranking import Ranker
    from gateway.memory.lane import Puts
    from gateway.ports import Clock, Completer, Embedder
    from gateway.store.engine import Connection, Store

#: requests an hour for conclusions and summaries, and as many for answers
CALLS_PER_HOUR = 60


@dataclass(frozen=True, slots=True)
class Faculties:
    """What a gateway lends to the service. Nothing at all is enough: then rules do it."""

    #: where durable work is put; None: nothing is thought about behind the requests
    mailbox: Puts | None = None
    completer: Completer | None = None
    embedder: Embedder | None = None
    calls_per_hour: int = CALLS_PER_HOUR
    #: whether a person waits for an answer right now
    busy: Callable[[Connection], bool] = field(default=lambda _conn: False)

    def described(self) -> dict[str, str | int]:
        """Say what is lent, for people."""
        return {
            "by": "rule" if self.completer is None else self.completer.label,
            "search": "words" if self.embedder is None else f"words and {self.embedder.model}",
            "calls_per_hour": self.calls_per_hour if self.completer is not None else 0,
        }

    async def aclose(self) -> None:
        """Release what was lent."""
        for each in (self.completer, self.embedder):
            if each is not None:
                await each.aclose()


@dataclass(frozen=True, slots=True)
class Mind:
    """The parts that think, wired together."""

    deriver: Deriver
    ranker: Ranker
    thinking: Thinking | None


def make_mind(store: Store, clock: Clock, lent: Faculties, deriver: Deriver | None = None) -> Mind:
    """Wire the parts; ``deriver`` stands in for the usual one."""
    vectors = Vectors(store, lent.embedder) if lent.embedder is not None else None
    ranker: Ranker = ByWords() if vectors is None else Fused(vectors)
    thinker: ByModel | None = None
    gives_way = lent.completer is not None and lent.completer.shares_machine
    if lent.completer is not None:
        meter = Meter(store, clock, lent.completer, lent.calls_per_hour)

        async def busy() -> bool:
            return gives_way and await store.read(lent.busy)

        thinker = ByModel(meter, ranker, busy)
    thinking = None
    if lent.mailbox is not None:
        thinking = Thinking(
            store,
            clock,
            lent.mailbox,
            mind=thinker,
            gives_way=gives_way,
            busy=lent.busy,
            vectors=vectors,
        )
    return Mind(deriver or thinker or ByRule(ranker), ranker, thinking)
