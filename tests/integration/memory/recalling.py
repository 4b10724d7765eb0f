"""A recall on a real store, with a fake clock and a memory service in the test's hands."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from gateway.memory.recall import Recall, RecallRules
from gateway.model.ids import ConversationKey, MessageId, PeerId, SessionId, TurnId, new_turn_id
from gateway.model.memory import BaseContext
from gateway.model.outbound import Address
from gateway.policy.audience import Audience
from gateway.policy.reasoning import DialecticRules
from gateway.store import migrate, people, turns
from gateway.store.recall import RecallKey
from gateway.store.sqlite import SqliteStore
from tests.contract.store import samples
from tests.fakes.clock import FakeClock
from tests.fakes.memory import FakeMemory

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from gateway.store.engine import Tx

T = TypeVar("T")

ADA = RecallKey(SessionId("s1"), PeerId("ada"), Audience.PERSONAL)
RULES = RecallRules(
    inject=True,
    open_at_start=False,
    context_tokens=None,
    context_cadence=1,
    dialectic=DialecticRules(2, 1, "low", None, heuristic=True, cap="high"),
    dialectic_chars=600,
    dialectic_input_chars=10_000,
    base_wait=3.0,
    dialectic_wait=2.0,
    agent=PeerId("hermes"),
    agent_observes=True,
    seed_session=SessionId("seed"),
    revision="r1",
)


@dataclass
class Bench:
    """One recall, its store and its service."""

    store: SqliteStore
    clock: FakeClock
    memory: FakeMemory
    recall: Recall
    rules: RecallRules = RULES

    async def turn(self, key: RecallKey = ADA, message: str = "What about the exam?") -> str:
        return (
            await self.recall.for_turn(self.write, await self.new_turn(key), key, message)
        ).text

    async def write(self, fn: Callable[[Tx], T]) -> T:
        return await self.store.write(fn)

    async def new_turn(self, key: RecallKey = ADA) -> TurnId:
        made = new_turn_id()
        turn = turns.Turn(
            id=made,
            conversation=ConversationKey("c"),
            session=key.session,
            peer=key.peer,
            rung="raw",
            identity={},
            address=Address("telegram", "1", "5"),  # type: ignore[arg-type]
            account=people.Account("telegram", "", "5"),
            reply_to=MessageId("1"),
            language="en",
        )
        await self.store.write(lambda tx: samples.claim(tx, turn, now=self.clock.now()))
        return made


@asynccontextmanager
async def opened(path: Path, memory: FakeMemory) -> AsyncIterator[Bench]:
    store, clock = SqliteStore(path / "gateway.db"), FakeClock()
    migrate.upgrade(store.engine)
    bench = Bench(store, clock, memory, None)  # type: ignore[arg-type]
    bench.recall = Recall(store, clock, memory, lambda: bench.rules)
    try:
        yield bench
    finally:
        await bench.recall.aclose()
        await store.close()


def knowing(**known: str) -> FakeMemory:
    card = tuple(filter(None, [known.pop("card", "")]))
    return FakeMemory(BaseContext(card=card, **known), answers=["The exam is on Friday."])
