"""The memory tools: whose data they reach, what they say when it fails, what they weigh."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from gateway.memory.tools import MemoryTools, ToolRules
from gateway.model.errors import MemoryUnavailableError, ToolError
from gateway.model.ids import PeerId, SessionId, TurnId
from gateway.model.memory import BaseContext, Excerpt
from gateway.policy.audience import Audience
from gateway.ports import AgentTool, Asker, TurnRequest
from tests.fakes.memory import FakeMemory

if TYPE_CHECKING:
    from collections.abc import Mapping

CANARY = "canary-91c2"
RULES = ToolRules(
    shown=True,
    agent=PeerId("hermes"),
    agent_observes=True,
    dynamic=True,
    level="low",
    cap="high",
)
ALONE = TurnRequest(
    TurnId("t1"), (), asker=Asker(PeerId("ada"), SessionId("s1"), Audience.PERSONAL)
)
SHARED = replace(ALONE, asker=Asker(PeerId("ada"), SessionId("s1"), Audience.SHARED))
NOBODY = replace(ALONE, asker=None)


async def recent(_session: SessionId) -> list[tuple[str, str]]:
    return [("Ada", "Hello"), ("Hermes", "Hi Ada")]


async def own_sessions(asker: Asker) -> tuple[SessionId, ...]:
    return SessionId("seed"), asker.session


def tools(memory: FakeMemory, rules: ToolRules = RULES) -> dict[str, AgentTool]:
    built = MemoryTools(memory, lambda: rules, recent=recent, own_sessions=own_sessions).build()
    return {tool.name: tool for tool in built}


def call(
    memory: FakeMemory,
    name: str,
    arguments: Mapping[str, Any] | None = None,
    *,
    request: TurnRequest = ALONE,
    rules: ToolRules = RULES,
) -> str:
    return asyncio.run(_call(tools(memory, rules)[name], request, arguments or {}))


async def _call(tool: AgentTool, request: TurnRequest, arguments: Mapping[str, Any]) -> str:
    return await tool.call(request, arguments)


def test_all_schemas_together_stay_under_three_kilobytes() -> None:
    built = tools(FakeMemory(), replace(RULES, openclaw_names=True)).values()
    shown = [
        {"name": each.name, "description": each.description, "parameters": each.parameters}
        for each in built
    ]
    assert len(json.dumps(shown)) < 3000
    assert len(shown) == 8


def test_both_tiers_are_told_apart_in_the_descriptions() -> None:
    slow = {name for name, tool in tools(FakeMemory()).items() if "Slow" in tool.description}
    assert slow == {"honcho_reasoning"}


@pytest.mark.parametrize(
    ("request_", "hidden"),
    [
        (ALONE, set()),
        (SHARED, {"honcho_profile", "honcho_reasoning"}),
        (
            NOBODY,
            {
                "honcho_profile",
                "honcho_search",
                "honcho_context",
                "honcho_reasoning",
                "honcho_conclude",
            },
        ),
    ],
)
def test_what_the_model_sees(request_: TurnRequest, hidden: set[str]) -> None:
    assert {n for n, tool in tools(FakeMemory()).items() if not tool.visible(request_)} == hidden


def test_the_context_mode_hides_every_tool() -> None:
    built = tools(FakeMemory(), replace(RULES, shown=False)).values()
    assert not any(tool.visible(ALONE) for tool in built)


def test_a_card_is_read_and_replaced_under_one_pair() -> None:
    memory = FakeMemory()
    assert call(memory, "honcho_profile") == "The card is empty."
    call(memory, "honcho_profile", {"card": ["Name: Ada", "Home: Graz"]})
    assert memory.cards == {("hermes", "ada"): ("Name: Ada", "Home: Graz")}
    assert call(memory, "honcho_profile", {"peer": "user"}) == "Name: Ada\nHome: Graz"
    call(memory, "honcho_profile", {"card": []})
    assert memory.cards["hermes", "ada"] == ()


@pytest.mark.parametrize("name", ["bob", "", "telegram_5", "hermes2"])
@pytest.mark.parametrize("tool", ["honcho_profile", "honcho_reasoning"])
def test_nobody_else_can_be_asked_about(tool: str, name: str) -> None:
    memory = FakeMemory(cards={("hermes", "bob"): (CANARY,)})
    with pytest.raises(ToolError, match='"user" or "ai"'):
        call(memory, tool, {"peer": name, "query": "who?"})
    assert memory.calls.total() == 0


def test_a_search_reaches_the_asking_persons_words_only() -> None:
    seen: list[tuple[object, object]] = []

    class Searched(FakeMemory):
        async def search(
            self, words: str, *, peer: PeerId | None, session: SessionId | None, limit: int
        ) -> list[Excerpt]:
            seen.append((peer, session))
            at = datetime(2026, 11, 29, tzinfo=UTC)
            return [Excerpt("I like tea", PeerId("ada"), SessionId("s0"), at)]

    assert call(Searched(), "honcho_search", {"query": "tea"}) == "[2026-11-29] ada: I like tea"
    call(Searched(), "honcho_search", {"query": "tea"}, request=SHARED)
    assert seen == [("ada", None), (None, "s1")]


def test_a_shared_place_hears_no_card_and_no_unlimited_view() -> None:
    memory = FakeMemory(BaseContext(summary="We met.", representation=CANARY, card=(CANARY,)))
    told = call(memory, "honcho_context", request=SHARED)
    assert CANARY not in told
    assert "We met." in told
    assert "Ada: Hello" in told
    assert memory.contexts[0].only_this_session


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("honcho_profile", {}),
        ("honcho_reasoning", {"query": "who?"}),
        ("honcho_conclude", {"list": True}),
        ("honcho_conclude", {"delete_id": "c1"}),
    ],
)
def test_a_shared_place_is_refused_even_when_the_model_calls_a_hidden_tool(
    tool: str, arguments: dict[str, Any]
) -> None:
    memory = FakeMemory(cards={("hermes", "ada"): (CANARY,)}, answers=[CANARY])
    with pytest.raises(ToolError, match="direct message"):
        call(memory, tool, arguments, request=SHARED)
    assert memory.calls.total() == 0


def test_a_failure_never_looks_like_nothing_known() -> None:
    memory = FakeMemory(error=MemoryUnavailableError())
    for name, arguments in (
        ("honcho_profile", {}),
        ("honcho_search", {"query": "tea"}),
        ("honcho_context", {}),
        ("honcho_reasoning", {"query": "who?"}),
        ("honcho_conclude", {"conclusion": "likes tea"}),
    ):
        with pytest.raises(ToolError, match="memory_unavailable"):
            call(memory, name, arguments)


@pytest.mark.parametrize(
    ("dynamic", "given", "query", "level"),
    [
        (True, "max", "short", "max"),
        (True, None, "short", "low"),
        (True, None, "x" * 400, "high"),
        (True, "absurd", "short", "low"),
        (False, "max", "x" * 400, "low"),
    ],
)
def test_the_level_is_free_or_pinned(
    dynamic: bool, given: str | None, query: str, level: str
) -> None:
    memory = FakeMemory(answers=["Ada."])
    arguments = {"query": query} | ({"reasoning_level": given} if given else {})
    rules = replace(RULES, dynamic=dynamic)
    assert call(memory, "honcho_reasoning", arguments, rules=rules) == "Ada."
    assert memory.questions[0].level == level


@pytest.mark.parametrize(
    ("name", "query", "level"),
    [
        ("honcho_recall", "short", "minimal"),
        ("honcho_recall", "x" * 120, "low"),
        ("honcho_analyze", "short", "medium"),
        ("honcho_analyze", "x" * 400, "high"),
    ],
)
def test_openclaws_names_have_their_floors(name: str, query: str, level: str) -> None:
    memory = FakeMemory()
    call(memory, name, {"query": query}, rules=replace(RULES, openclaw_names=True))
    assert memory.questions[0].level == level


def test_openclaws_names_are_off_by_default() -> None:
    assert not {"honcho_recall", "honcho_analyze", "honcho_session"} & set(tools(FakeMemory()))


def test_a_conclusion_is_kept_listed_and_dropped_under_one_pair() -> None:
    memory = FakeMemory()
    assert call(memory, "honcho_conclude", {"conclusion": "likes tea"}) == "Kept as c1."
    assert call(memory, "honcho_conclude", {"delete_id": "c1"}) == "Dropped c1."
    assert call(memory, "honcho_conclude", {}) == "Nothing was concluded yet."
    assert [*memory.calls] == ["conclude", "forget_conclusion", "conclusions"]
    assert not tools(memory)["honcho_conclude"].idempotent


def test_what_the_agent_knows_of_itself_comes_from_the_persons_own_sessions() -> None:
    """What it said to one person must not reach another."""
    memory = FakeMemory(answers=["I like chess."])
    call(memory, "honcho_reasoning", {"query": "What do you like?", "peer": "ai"})
    call(memory, "honcho_reasoning", {"query": "What do I like?"})
    about_agent, about_person = memory.questions
    assert about_agent.sessions == ("seed", "s1")
    assert about_person.sessions == ()
