"""Recall on a real store, with a fake clock and a memory service in the test's hands."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pytest

from gateway.model.errors import MemoryUnavailableError, MemoryUnsupportedError
from gateway.model.ids import PeerId
from gateway.model.memory import BaseContext, ContextQuery
from gateway.policy.audience import Audience
from gateway.store import ledger, people
from tests.contract.store import samples
from tests.fakes.memory import FakeMemory
from tests.integration.memory.recalling import ADA, RULES, knowing, opened

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from gateway.store.engine import Tx
    from gateway.store.recall import RecallKey


async def test_a_first_turn_waits_and_gets_both_layers(tmp_path: Path) -> None:
    async with opened(tmp_path, knowing(representation="Ada likes tea.")) as bench:
        text = await bench.turn()
    assert "Ada likes tea." in text
    assert text.endswith("The exam is on Friday.")


async def test_from_the_second_turn_on_nothing_is_asked_on_the_way(tmp_path: Path) -> None:
    """C6, counted."""
    async with opened(tmp_path, knowing(representation="Ada likes tea.")) as bench:
        await bench.turn()
        for number in range(5):
            await bench.recall.refresh(ADA, "And the next question?")
            before = bench.memory.calls.total()
            assert "Ada likes tea." in await bench.turn()
            assert bench.memory.calls.total() == before, f"turn {number + 2} asked the service"


async def test_a_dead_service_costs_the_first_turn_its_wait_and_later_ones_nothing(
    tmp_path: Path,
) -> None:
    memory = FakeMemory(gate=asyncio.Event())
    async with opened(tmp_path, memory) as bench:
        first = asyncio.create_task(bench.turn())
        await bench.clock.until_sleeping(2)
        assert bench.clock.pauses == [2.0, 3.0]
        await bench.clock.advance(2.9)
        assert not first.done()
        await bench.clock.advance(0.1)
        assert await first == ""
        assert await bench.turn() == ""


async def test_a_refusing_service_costs_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path, FakeMemory(error=MemoryUnavailableError())) as bench:
        assert await bench.turn() == ""
        assert bench.clock.monotonic() == 0


async def test_a_late_answer_serves_the_next_turn(tmp_path: Path) -> None:
    memory = replace(knowing(representation="Ada likes tea."), gate=asyncio.Event())
    async with opened(tmp_path, memory) as bench:
        first = asyncio.create_task(bench.turn())
        await bench.clock.until_sleeping(2)
        await bench.clock.advance(3)
        assert await first == ""
        assert memory.gate is not None
        memory.gate.set()
        await bench.recall.settled()
        assert "Ada likes tea." in await bench.turn()


def remember(tx: Tx, key: RecallKey) -> None:
    """Let the service have one message of a person's, of an earlier session."""
    samples.open_session(tx, peer=key.peer)
    message = samples.say(tx, "I like tea.")
    entry = ledger.Entry(samples.SESSION, key.peer, message)
    ledger.add(tx, entry, ledger.LedgerState.SAVED, now=samples.NOW)


async def test_a_turn_without_memory_that_there_is_names_the_outage(tmp_path: Path) -> None:
    """Only for whom there is any; the same one until the service has answered again."""
    async with opened(tmp_path, FakeMemory(error=MemoryUnavailableError())) as bench:

        async def cold(key: RecallKey = ADA) -> str:
            turn = await bench.new_turn(key)
            return (await bench.recall.for_turn(bench.write, turn, key, "Hello there")).cold

        assert await cold() == ""
        await bench.store.write(lambda tx: remember(tx, ADA))
        outages = [await cold(), await cold()]
        assert outages == ["ada/0", "ada/0"]
        bob = ADA._replace(peer=PeerId("bob"))
        group = ADA._replace(audience=Audience.SHARED)
        assert [await cold(bob), await cold(group)] == ["", ""]
        bench.memory.error = None
        await bench.recall.refresh(ADA, "Hello there")
        assert await cold() == ""
        bench.memory.error = MemoryUnavailableError()
        await bench.recall.refresh(ADA, "Hello there")
        assert [await cold(), await cold()] == ["ada/3", "ada/3"]


async def test_a_service_that_is_starting_is_waited_for(tmp_path: Path) -> None:
    starting = MemoryUnavailableError(code="memory_starting")
    memory = replace(knowing(representation="Ada likes tea."), error=starting)
    async with opened(tmp_path, memory) as bench:
        first = asyncio.create_task(bench.turn())
        await bench.clock.until_sleeping(2)
        await bench.clock.advance(0.1)
        memory.error = None
        await bench.clock.advance(0.1)
        assert "Ada likes tea." in await first


async def test_the_same_turn_run_again_recalls_the_same(tmp_path: Path) -> None:
    async with opened(tmp_path, knowing(representation="Ada likes tea.")) as bench:
        turn = await bench.new_turn()
        first = await bench.recall.for_turn(bench.write, turn, ADA, "Hi there, Hermes")
        bench.memory.known = BaseContext(representation="Something else.")
        assert await bench.recall.for_turn(bench.write, turn, ADA, "Hi there, Hermes") == first


async def test_a_dialectic_answer_is_injected_once_and_the_base_stays(tmp_path: Path) -> None:
    async with opened(tmp_path, knowing(representation="Ada likes tea.")) as bench:
        bench.rules = replace(RULES, context_cadence=3)
        assert "Friday" in await bench.turn()
        second = await bench.turn()
        assert "Ada likes tea." in second
        assert "Friday" not in second


async def test_an_old_base_is_dropped(tmp_path: Path) -> None:
    async with opened(tmp_path, knowing(representation="Ada likes tea.")) as bench:
        await bench.turn()
        assert "Ada likes tea." in await bench.turn()
        assert await bench.turn() == ""


async def test_where_nothing_was_known_it_is_asked_again_after_the_next_turn(
    tmp_path: Path,
) -> None:
    """A first message is fetched for before the service has it; the cadence starts later."""
    memory = knowing()
    async with opened(tmp_path, memory) as bench:
        bench.rules = replace(RULES, context_cadence=5)
        for _ in range(2):
            await bench.turn()
            await bench.recall.refresh(ADA, "And the next question?")
        memory.known = BaseContext(representation="Ada likes tea.")
        await bench.turn()
        await bench.recall.refresh(ADA, "And the next question?")
        assert "Ada likes tea." in await bench.turn()


async def test_another_identity_revision_uses_nothing_of_the_old_one(tmp_path: Path) -> None:
    async with opened(tmp_path, knowing(representation="Ada likes tea.")) as bench:
        await bench.turn()
        await bench.recall.refresh(ADA, "And the next question?")
        bench.rules = replace(RULES, revision="r2")
        bench.memory.error = MemoryUnavailableError()
        assert await bench.turn() == ""


async def test_one_person_never_gets_what_was_fetched_for_another(tmp_path: Path) -> None:
    """Two speakers of one shared session."""
    bob = ADA._replace(peer=PeerId("bob"))
    async with opened(tmp_path, knowing(representation="Ada likes tea.")) as bench:
        await bench.turn(ADA)
        await bench.recall.refresh(ADA, "And the next question?")
        bench.memory.known = BaseContext(representation="Bob has a dog.")
        text = await bench.turn(bob)
        assert "Bob has a dog." in text
        assert "tea" not in text
        assert "dog" not in await bench.turn(ADA)


async def test_rows_outlive_the_process(tmp_path: Path) -> None:
    async with opened(tmp_path, knowing(representation="Ada likes tea.")) as bench:
        await bench.turn()
        await bench.recall.refresh(ADA, "And the next question?")
    silent = FakeMemory(error=MemoryUnavailableError())
    async with opened(tmp_path, silent) as bench:
        assert "Ada likes tea." in await bench.turn()
        assert silent.calls.total() == 0


@pytest.mark.parametrize(("message", "asked"), [("ok", 0), ("thanks!", 0), ("And the exam?", 1)])
async def test_slight_messages_fire_no_dialectic(tmp_path: Path, message: str, asked: int) -> None:
    async with opened(tmp_path, FakeMemory(answers=["Good.", "Better."])) as bench:
        bench.rules = replace(RULES, dialectic=replace(RULES.dialectic, cadence=1))
        await bench.turn()
        before = len(bench.memory.questions)
        await bench.turn()
        await bench.recall.refresh(ADA, message)
        assert len(bench.memory.questions) - before == asked


async def test_the_tools_mode_injects_and_asks_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path, knowing(representation="Ada likes tea.")) as bench:
        bench.rules = replace(RULES, inject=False)
        assert await bench.turn() == ""
        await bench.recall.refresh(ADA, "And the next question?")
        bench.recall.prewarm(ADA)
        assert bench.memory.calls.total() == 0


async def test_a_prewarmed_first_turn_finds_its_layers_under_way(tmp_path: Path) -> None:
    async with opened(tmp_path, knowing(representation="Ada likes tea.")) as bench:
        bench.recall.prewarm(ADA)
        text = await bench.turn()
        assert "Ada likes tea." in text
        assert len(bench.memory.questions) == 1


async def test_a_first_turn_asks_again_where_the_prewarm_brought_no_answer(
    tmp_path: Path,
) -> None:
    """C4: it knows the words now, and the base is there already: only the answer is waited for."""
    memory = knowing(representation="Ada likes tea.")
    memory.answers = ["", "The exam is on Friday."]
    async with opened(tmp_path, memory) as bench:
        bench.recall.prewarm(ADA)
        await bench.recall.settled()
        text = await bench.turn()
    assert "Ada likes tea." in text
    assert text.endswith("The exam is on Friday.")
    assert "What about the exam?" in memory.questions[-1].text


async def test_a_greeting_does_not_ask_again(tmp_path: Path) -> None:
    memory = knowing(representation="Ada likes tea.")
    memory.answers = [""]
    async with opened(tmp_path, memory) as bench:
        bench.recall.prewarm(ADA)
        await bench.recall.settled()
        assert "tea" in await bench.turn(message="hello")
    assert len(memory.questions) == 1


# --- who may hear what ---------------------------------------------------------------------------


def seen(tx: Tx, *, user: str, at: datetime) -> None:
    account = people.Account("telegram", "", user)
    people.seen(tx, account, name="", language="", now=at)


CANARY = "canary-7f3a"
SHARED = ADA._replace(audience=Audience.SHARED)


async def test_a_strict_place_limits_every_question_to_its_session(tmp_path: Path) -> None:
    memory = knowing(card=CANARY)
    async with opened(tmp_path, memory) as bench:
        assert CANARY not in await bench.turn(SHARED)
    about_ada = [query for query in memory.contexts if query.target == "ada"]
    assert about_ada
    assert all(query.only_this_session for query in about_ada)
    assert all(question.only_this_session for question in memory.questions)


async def test_a_server_that_cannot_limit_is_not_asked_without_a_limit(tmp_path: Path) -> None:
    class Unlimited(FakeMemory):
        async def context(self, query: ContextQuery) -> BaseContext:
            if query.only_this_session or query.sessions:
                raise MemoryUnsupportedError
            return BaseContext(representation=CANARY)

    async with opened(tmp_path, Unlimited(BaseContext())) as bench:
        assert CANARY not in await bench.turn(SHARED)


async def test_what_the_agent_said_to_one_person_does_not_reach_another(tmp_path: Path) -> None:
    """The agent's self-view is read from nobody else's sessions once a second person is here."""
    memory = FakeMemory()
    async with opened(tmp_path, memory) as bench:
        for user in ("1", "2"):
            await bench.store.write(partial(seen, user=user, at=bench.clock.now()))
        await bench.turn()
    (own,) = [query for query in memory.contexts if query.target == "hermes"]
    assert own.sessions == ("seed", "s1")


async def test_the_self_view_is_limited_also_while_no_account_was_seen(tmp_path: Path) -> None:
    """The console's person has no account, and is a person all the same."""
    memory = FakeMemory()
    async with opened(tmp_path, memory) as bench:
        await bench.turn()
    (own,) = [query for query in memory.contexts if query.target == "hermes"]
    assert own.sessions == ("seed", "s1")
